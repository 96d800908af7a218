func.func @f(%n: f32, %m: i64) -> (tensor<2x3xf32>, tensor<4xi64>) {
  %e = tensor.empty() : tensor<2x3xf32>
  %d = tensor.empty() : tensor<4xi64>
  %0 = linalg.fill ins(%n : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = linalg.fill ins(%m : i64) outs(%d : tensor<4xi64>) -> tensor<4xi64>
  return %0, %1 : tensor<2x3xf32>, tensor<4xi64>
}

// in f32[] -0.5
// in i64[] -1
// out f32[2,3] -0.5 -0.5 -0.5 -0.5 -0.5 -0.5
// out i64[4] -1 -1 -1 -1
