func.func @f(%a: tensor<3xf32>, %b: tensor<3x4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.vecmat ins(%a, %b : tensor<3xf32>, tensor<3x4xf32>)
                     outs(%c : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// in f32[3] 0.0 0.125 -1.125
// in f32[3,4] -1.375 1.0 0.625 -1.25 -0.5 -1.125 2.0 0.625 -1.125 -1.25 1.75 1.875
// out f32[4] 1.203125 1.265625 -1.71875 -2.03125
