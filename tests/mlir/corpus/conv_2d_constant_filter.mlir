func.func @f(%x: tensor<1x4x4x1xf32>) -> tensor<1x3x3x2xf32> {
  %w = arith.constant dense<[[[[1.0, 2.0]], [[3.0, -1.0]]], [[[0.5, 4.0]], [[-2.0, 0.25]]]]>
     : tensor<2x2x1x2xf32>
  %c = arith.constant dense<0.0> : tensor<1x3x3x2xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x4x4x1xf32>, tensor<2x2x1x2xf32>)
                                outs(%c : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  return %0 : tensor<1x3x3x2xf32>
}

// in f32[1,4,4,1] 2.0 -2.0 -0.625 1.375 -1.25 -1.375 -1.375 -1.625 0.875 1.625 1.875 -0.25 -0.875
//   -1.625 1.0 -1.25
// out f32[1,3,3,2] -1.875 0.65625 -1.8125 -9.21875 6.0625 -8.53125 -8.1875 2.78125 -8.4375 5.59375
//   -4.8125 6.3125 8.5625 -3.78125 4.4375 -4.875 4.125 7.6875
