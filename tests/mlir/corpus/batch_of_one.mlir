func.func @f(%a: tensor<1x2x3xf32>, %b: tensor<1x3x4xf32>) -> tensor<1x2x4xf32> {
  %c = arith.constant dense<0.0> : tensor<1x2x4xf32>
  %0 = linalg.batch_matmul ins(%a, %b : tensor<1x2x3xf32>, tensor<1x3x4xf32>)
                           outs(%c : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}

// in f32[1,2,3] 1.5 -1.0 1.875 -0.375 0.75 -2.0
// in f32[1,3,4] -0.25 -1.5 0.125 0.0 -1.75 -1.5 -2.0 0.5 0.5 -0.875 -2.0 -1.5
// out f32[1,2,4] 2.3125 -2.390625 -1.5625 -3.3125 -2.21875 1.1875 2.453125 3.375
