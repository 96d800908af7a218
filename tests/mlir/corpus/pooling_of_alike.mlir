// All elements of the image are alike, and are kept once.
func.func @f(%n: f32) -> (tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>) {
  %x = tensor.splat %n : tensor<1x4x5x2xf32>
  %low = arith.constant dense<0xFF800000> : tensor<1x3x4x2xf32>
  %zero = arith.constant dense<0.0> : tensor<1x3x4x2xf32>
  %w = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.pooling_nhwc_max
       {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
       ins(%x, %w : tensor<1x4x5x2xf32>, tensor<2x2xf32>)
       outs(%low : tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
  %1 = linalg.pooling_nhwc_sum
       {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
       ins(%x, %w : tensor<1x4x5x2xf32>, tensor<2x2xf32>)
       outs(%zero : tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
  return %0, %1 : tensor<1x3x4x2xf32>, tensor<1x3x4x2xf32>
}

// in f32[] -0.625
// out f32[1,3,4,2] -0.625 -0.625 -0.625 -0.625 -0.625 -0.625 -0.625 -0.625 -0.625 -0.625 -0.625
//   -0.625 -0.625 -0.625 -0.625 -0.625 -0.625 -0.625 -0.625 -0.625 -0.625 -0.625 -0.625 -0.625
// out f32[1,3,4,2] -2.5 -2.5 -2.5 -2.5 -2.5 -2.5 -2.5 -2.5 -2.5 -2.5 -2.5 -2.5 -2.5 -2.5 -2.5 -2.5
//   -2.5 -2.5 -2.5 -2.5 -2.5 -2.5 -2.5 -2.5
