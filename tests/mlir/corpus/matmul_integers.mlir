func.func @f(%a: tensor<2x3xi32>, %b: tensor<3x4xi32>) -> tensor<2x4xi32> {
  %c = arith.constant dense<0> : tensor<2x4xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xi32>, tensor<3x4xi32>)
                     outs(%c : tensor<2x4xi32>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}

// in i32[2,3] -4 -3 -4 9 -1 -6
// in i32[3,4] -8 -1 3 -8 1 -3 -3 -4 0 -5 -4 -4
// out i32[2,4] 29 33 13 60 -73 24 54 -44
