func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.copy ins(%a : tensor<2x3xf32>) outs(%b : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// in f32[2,3] 0.0 -0.375 -0.125 1.5 0.75 -0.875
// in f32[2,3] -1.125 0.625 -1.25 -1.5 -1.125 1.0
// out f32[2,3] 0.0 -0.375 -0.125 1.5 0.75 -0.875
