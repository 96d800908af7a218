// A result does not change the tensor that it began with.
func.func @f(%a: tensor<3xf32>, %c: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %two = arith.constant 2.0 : f32
  %0 = linalg.fill ins(%two : f32) outs(%c : tensor<3xf32>) -> tensor<3xf32>
  %1 = arith.subf %c, %0 : tensor<3xf32>
  %2 = arith.mulf %a, %1 : tensor<3xf32>
  return %2, %c : tensor<3xf32>, tensor<3xf32>
}

// in f32[3] 1.0 0.75 -1.0
// in f32[3] -1.75 1.875 -1.625
// out f32[3] -3.75 -0.09375 3.625
// out f32[3] -1.75 1.875 -1.625
