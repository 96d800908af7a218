func.func @f(%x: tensor<2x1x4x5xf32>) -> (tensor<2x1x3x4xf32>, tensor<2x1x3x4xf32>) {
  %low = arith.constant dense<0xFF800000> : tensor<2x1x3x4xf32>
  %zero = arith.constant dense<0.0> : tensor<2x1x3x4xf32>
  %w = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.pooling_nchw_max
       {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
       ins(%x, %w : tensor<2x1x4x5xf32>, tensor<2x2xf32>)
       outs(%low : tensor<2x1x3x4xf32>) -> tensor<2x1x3x4xf32>
  %1 = linalg.pooling_nchw_sum
       {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
       ins(%x, %w : tensor<2x1x4x5xf32>, tensor<2x2xf32>)
       outs(%zero : tensor<2x1x3x4xf32>) -> tensor<2x1x3x4xf32>
  return %0, %1 : tensor<2x1x3x4xf32>, tensor<2x1x3x4xf32>
}

// in f32[2,1,4,5] -0.375 -1.0 -1.5 0.75 -0.875 0.125 0.5 2.0 0.75 -0.125 -1.75 1.75 -0.875 2.0
//   -0.375 0.375 -0.875 -0.5 0.5 2.0 -1.375 0.875 1.5 1.125 1.25 1.25 -1.75 -1.625 -2.0 1.0 1.875
//   -0.375 -0.625 1.25 0.75 -1.125 -2.0 0.375 0.125 1.875
// out f32[2,1,3,4] 0.5 2.0 2.0 0.75 1.75 2.0 2.0 2.0 1.75 1.75 2.0 2.0 1.25 1.5 1.5 1.25 1.875
//   -0.375 1.25 1.25 1.875 0.375 1.25 1.875
// out f32[2,1,3,4] -0.75 0.0 2.0 0.5 0.625 3.375 3.875 2.25 -0.5 -0.5 1.125 4.125 -1.0 -1.0 -1.0
//   1.375 1.0 -4.375 -3.0 1.0 -1.625 -2.625 1.125 4.0
