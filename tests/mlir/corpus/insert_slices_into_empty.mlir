// Part after part, until all of it is there.
func.func @f(%p: tensor<2x3xf32>, %q: tensor<2x2xf32>) -> tensor<2x5xf32> {
  %e = tensor.empty() : tensor<2x5xf32>
  %0 = tensor.insert_slice %p into %e[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<2x5xf32>
  %1 = tensor.insert_slice %q into %0[0, 3] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<2x5xf32>
  return %1 : tensor<2x5xf32>
}

// in f32[2,3] 0.625 -2.0 -1.875 -0.25 1.375 -1.125
// in f32[2,2] 1.875 -0.25 0.5 -0.375
// out f32[2,5] 0.625 -2.0 -1.875 1.875 -0.25 -0.25 1.375 -1.125 0.5 -0.375
