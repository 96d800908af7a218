func.func @f(%a: tensor<2x3xi64>, %b: tensor<3x4xi64>, %c: tensor<2x4xi64>) -> tensor<2x4xi64> {
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xi64>, tensor<3x4xi64>)
                     outs(%c : tensor<2x4xi64>) -> tensor<2x4xi64>
  return %0 : tensor<2x4xi64>
}

// in i64[2,3] -4 0 -4 -3 0 3
// in i64[3,4] 6 1 -1 -8 -3 -5 4 6 -5 -4 8 -3
// in i64[2,4] 0 7 8 5 2 -7 2 9
// out i64[2,4] -4 19 -20 49 -31 -22 29 24
