func.func @f(%a: tensor<3x2xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %c = arith.constant dense<0.0> : tensor<2x4xf32>
  %0 = linalg.matmul_transpose_a ins(%a, %b : tensor<3x2xf32>, tensor<3x4xf32>)
                                 outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[3,2] -1.25 -1.875 0.5 1.875 0.625 1.625
// in f32[3,4] -0.125 1.25 0.125 -0.875 -0.375 -1.625 0.875 0.125 -0.5 1.75 0.625 -1.25
// out f32[2,4] -0.34375 -1.28125 0.671875 0.375 -1.28125 -2.546875 2.421875 -0.15625
