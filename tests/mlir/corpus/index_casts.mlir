func.func @f(%i: tensor<4xi32>, %l: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi32>) {
  %0 = arith.index_cast %i : tensor<4xi32> to tensor<4xindex>
  %1 = arith.index_cast %l : tensor<4xi64> to tensor<4xindex>
  %2 = arith.addi %0, %1 : tensor<4xindex>
  %3 = arith.index_cast %2 : tensor<4xindex> to tensor<4xi64>
  %4 = arith.index_cast %1 : tensor<4xindex> to tensor<4xi32>
  return %3, %4 : tensor<4xi64>, tensor<4xi32>
}

// in i32[4] -5 -2 -8 2
// in i64[4] 7 0 -6 -6
// out i64[4] 2 -2 -14 -4
// out i32[4] 7 0 -6 -6
