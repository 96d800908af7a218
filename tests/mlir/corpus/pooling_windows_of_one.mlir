// The window has one element; so it is a copy, with a stride.
func.func @f(%x: tensor<1x4x5x2xf32>) -> (tensor<1x4x5x2xf32>, tensor<1x2x3x2xf32>) {
  %low = arith.constant dense<0xFF800000> : tensor<1x4x5x2xf32>
  %zero = arith.constant dense<0.0> : tensor<1x2x3x2xf32>
  %w = tensor.empty() : tensor<1x1xf32>
  %0 = linalg.pooling_nhwc_max
       {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
       ins(%x, %w : tensor<1x4x5x2xf32>, tensor<1x1xf32>)
       outs(%low : tensor<1x4x5x2xf32>) -> tensor<1x4x5x2xf32>
  %1 = linalg.pooling_nhwc_sum
       {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
       ins(%x, %w : tensor<1x4x5x2xf32>, tensor<1x1xf32>)
       outs(%zero : tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
  return %0, %1 : tensor<1x4x5x2xf32>, tensor<1x2x3x2xf32>
}

// in f32[1,4,5,2] 0.375 1.875 1.625 -1.375 -0.375 -0.625 0.625 0.75 -0.625 1.75 0.5 1.625 0.5
//   1.125 0.125 0.75 -1.75 1.5 1.125 -0.75 0.75 -0.875 1.125 -0.625 0.125 1.25 1.875 0.125 -1.625
//   -1.75 0.875 1.75 -0.5 -0.5 -1.0 0.125 1.25 0.0 -1.75 -1.625
// out f32[1,4,5,2] 0.375 1.875 1.625 -1.375 -0.375 -0.625 0.625 0.75 -0.625 1.75 0.5 1.625 0.5
//   1.125 0.125 0.75 -1.75 1.5 1.125 -0.75 0.75 -0.875 1.125 -0.625 0.125 1.25 1.875 0.125 -1.625
//   -1.75 0.875 1.75 -0.5 -0.5 -1.0 0.125 1.25 0.0 -1.75 -1.625
// out f32[1,2,3,2] 0.375 1.875 -0.375 -0.625 -0.625 1.75 0.75 -0.875 0.125 1.25 -1.625 -1.75
