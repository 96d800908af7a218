func.func @f(%x: tensor<2x3x7xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x5xf32>) {
  %zero = arith.constant dense<0.0> : tensor<2x3x5xf32>
  %low = arith.constant dense<0xFF800000> : tensor<2x3x3xf32>
  %w = tensor.empty() : tensor<3xf32>
  %0 = linalg.pooling_ncw_max
       {dilations = dense<1> : vector<1xi64>, strides = dense<2> : vector<1xi64>}
       ins(%x, %w : tensor<2x3x7xf32>, tensor<3xf32>)
       outs(%low : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %1 = linalg.pooling_ncw_sum
       {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>}
       ins(%x, %w : tensor<2x3x7xf32>, tensor<3xf32>)
       outs(%zero : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %0, %1 : tensor<2x3x3xf32>, tensor<2x3x5xf32>
}

// in f32[2,3,7] 0.125 1.875 -0.125 -1.375 2.0 -2.0 0.25 1.0 -0.75 -0.75 -1.875 1.375 1.375 1.5
//   -1.5 0.5 1.625 -0.375 1.0 1.75 -1.75 1.0 0.625 -1.125 -0.75 1.625 -1.25 1.25 -0.25 0.625 0.5
//   -0.625 -0.875 0.25 -1.875 1.875 0.875 1.875 -2.0 1.625 -1.25 1.5
// out f32[2,3,3] 1.875 2.0 2.0 1.0 1.375 1.5 1.625 1.625 1.75 1.0 1.625 1.625 0.625 0.5 0.25 1.875
//   1.875 1.625
// out f32[2,3,5] 1.875 0.375 0.5 -1.375 0.25 -0.5 -3.375 -1.25 0.875 4.25 0.625 1.75 2.25 2.375
//   1.0 0.5 -1.25 -0.25 -0.375 1.625 0.875 0.5 -1.0 -1.25 -2.5 4.625 0.75 1.5 -1.625 1.875
