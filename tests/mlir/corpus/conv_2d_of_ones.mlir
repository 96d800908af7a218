// Every extent is 1.
func.func @f(%x: tensor<1x1x1x1xf32>, %w: tensor<1x1x1x1xf32>, %c: tensor<1x1x1x1xf32>)
    -> tensor<1x1x1x1xf32> {
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>)
                                outs(%c : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}

// in f32[1,1,1,1] 0.125
// in f32[1,1,1,1] -1.5
// in f32[1,1,1,1] 1.0
// out f32[1,1,1,1] 0.8125
