// Of a row that stands for all rows, and of constants.
func.func @f(%r: tensor<5xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %e = tensor.empty() : tensor<4x5xf32>
  %a = linalg.broadcast ins(%r : tensor<5xf32>) outs(%e : tensor<4x5xf32>) dimensions = [0]
  %c = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = tensor.extract_slice %a[1, 0] [2, 2] [2, 3] : tensor<4x5xf32> to tensor<2x2xf32>
  %1 = tensor.extract_slice %c[0, 1] [2, 2] [1, 1] : tensor<2x3xf32> to tensor<2x2xf32>
  %2 = arith.mulf %0, %1 : tensor<2x2xf32>
  return %2, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}

// in f32[5] 0.5 0.875 -1.25 -0.125 -2.0
// out f32[2,2] 1.0 -0.375 2.5 -0.75
// out f32[2,2] 2.0 3.0 5.0 6.0
