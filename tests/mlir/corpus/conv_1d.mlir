// Neither batch nor channels.
func.func @f(%x: tensor<8xf32>, %w: tensor<3xf32>, %c: tensor<6xf32>) -> tensor<6xf32> {
  %0 = linalg.conv_1d ins(%x, %w : tensor<8xf32>, tensor<3xf32>)
                      outs(%c : tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// in f32[8] -1.625 1.625 1.0 0.125 -1.0 -1.0 -1.5 2.0
// in f32[3] 0.25 -1.625 -2.0
// in f32[6] -1.25 0.75 -0.875 -0.75 1.625 1.125
// out f32[6] -6.296875 -0.71875 1.171875 2.90625 6.0 -0.6875
