// One window: the image is as large as it.
func.func @f(%x: tensor<2x3x4x5xf32>) -> (tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>) {
  %low = arith.constant dense<0xFF800000> : tensor<2x3x1x1xf32>
  %zero = arith.constant dense<0.0> : tensor<2x3x1x1xf32>
  %w = tensor.empty() : tensor<4x5xf32>
  %0 = linalg.pooling_nchw_max
       {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
       ins(%x, %w : tensor<2x3x4x5xf32>, tensor<4x5xf32>)
       outs(%low : tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
  %1 = linalg.pooling_nchw_sum
       {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
       ins(%x, %w : tensor<2x3x4x5xf32>, tensor<4x5xf32>)
       outs(%zero : tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
  return %0, %1 : tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>
}

// in f32[2,3,4,5] 0.125 0.0 -0.625 0.125 1.75 0.125 0.625 1.25 1.375 1.0 -0.875 -0.25 1.5 -0.375
//   -1.375 -1.75 1.5 1.5 0.0 1.375 0.5 -0.375 1.25 -0.75 -0.375 0.5 1.125 1.0 -1.0 1.25 -0.125
//   1.25 0.125 1.25 -1.875 -0.25 0.0 1.875 -0.5 1.125 1.25 -1.25 1.875 2.0 0.375 0.625 -1.25 0.75
//   -0.25 -1.5 0.0 0.125 0.25 0.625 1.875 0.875 1.875 0.25 0.375 1.0 -0.875 1.25 -0.875 1.75 -0.25
//   -0.5 1.25 1.0 -0.25 1.625 -0.75 -0.875 -1.0 1.5 -1.0 2.0 0.625 -0.5 0.25 -0.125 -0.75 1.25
//   -0.75 1.75 0.125 -1.5 1.5 -0.875 0.375 -1.625 1.75 1.25 -1.875 -0.375 -1.375 0.875 1.25 -0.875
//   0.375 -0.125 0.0 -1.875 -1.5 1.75 1.5 0.75 1.25 -0.875 1.875 -1.875 -0.875 1.75 -0.625 -0.75
//   -0.75 -0.875 0.625 -0.75 1.5 1.375
// out f32[2,3,1,1] 1.75 1.875 2.0 2.0 1.75 1.875
// out f32[2,3,1,1] 7.0 6.0 9.875 4.25 0.375 1.625
