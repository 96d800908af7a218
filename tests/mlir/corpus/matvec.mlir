func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  %c = arith.constant dense<0.0> : tensor<2xf32>
  %0 = linalg.matvec ins(%a, %b : tensor<2x3xf32>, tensor<3xf32>)
                     outs(%c : tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// in f32[2,3] 1.75 2.0 -0.125 1.125 1.75 1.125
// in f32[3] 1.875 1.25 0.5
// out f32[2] 5.71875 4.859375
