func.func @f(%a: tensor<5xf32>, %b: tensor<5xf32>, %c: tensor<f32>) -> tensor<f32> {
  %0 = linalg.dot ins(%a, %b : tensor<5xf32>, tensor<5xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// in f32[5] -1.875 -1.375 -1.625 1.75 -0.625
// in f32[5] -1.5 -0.875 -0.625 1.0 -1.625
// in f32[] 0.0
// out f32[] 7.796875
