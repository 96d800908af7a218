func.func @f(%a: tensor<2x3xf32>, %b: tensor<4xi64>) -> (f32, i64, tensor<2x3xf32>) {
  %i = arith.constant 1 : index
  %j = arith.constant 2 : index
  %0 = tensor.extract %a[%i, %j] : tensor<2x3xf32>
  %1 = tensor.extract %b[%i] : tensor<4xi64>
  %2 = tensor.splat %0 : tensor<2x3xf32>
  %3 = arith.subf %a, %2 : tensor<2x3xf32>
  return %0, %1, %3 : f32, i64, tensor<2x3xf32>
}

// in f32[2,3] -0.5 -0.25 0.875 -0.5 1.125 -1.875
// in i64[4] 6 -3 -5 6
// out f32[] -1.875
// out i64[] -3
// out f32[2,3] 1.375 1.625 2.75 1.375 3.0 0.0
