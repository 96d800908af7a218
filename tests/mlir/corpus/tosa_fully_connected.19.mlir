func.func @f(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = tosa.fully_connected %x, %w, %b
     : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[2,3] -1.0 1.0 -0.875 -1.125 0.125 1.0
// in f32[4,3] -0.5 -1.375 1.375 -1.5 0.375 1.125 -1.375 1.625 -1.0 1.75 -2.0 2.0
// in f32[4] 1.75 1.625 1.0 -1.0
// out f32[2,4] -0.328125 2.515625 4.875 -6.5 3.515625 4.484375 1.75 -1.21875
