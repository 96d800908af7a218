// Adds to what is there.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>)
                     outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[2,3] -0.375 1.5 -0.25 -0.25 1.0 1.5
// in f32[3,4] -2.0 1.25 -0.75 -0.25 0.5 -1.875 -1.75 0.625 -1.125 0.625 0.75 1.875
// in f32[2,4] 1.25 -0.25 -1.5 1.5 -1.25 -2.0 -0.5 1.625
// out f32[2,4] 3.03125 -3.6875 -4.03125 2.0625 -1.9375 -3.25 -0.9375 5.125
