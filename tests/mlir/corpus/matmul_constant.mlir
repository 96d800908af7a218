func.func @f(%a: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %b = arith.constant dense<[[1.0, -2.0], [0.5, 0.25], [3.0, -1.5]]> : tensor<3x2xf32>
  %c = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>)
                     outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// in f32[2,3] 1.375 0.5 -0.625 0.375 0.5 0.75
// out f32[2,2] -0.25 -1.6875 2.875 -1.75
