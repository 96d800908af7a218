func.func @f(%a: tensor<3x4xi32>, %c: tensor<3xi32>)
    -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
  %0 = linalg.reduce {arith.addi} ins(%a : tensor<3x4xi32>) outs(%c : tensor<3xi32>)
       dimensions = [1]
  %1 = linalg.reduce {arith.maxsi} ins(%a : tensor<3x4xi32>) outs(%c : tensor<3xi32>)
       dimensions = [1]
  %2 = linalg.reduce {arith.minsi} ins(%a : tensor<3x4xi32>) outs(%c : tensor<3xi32>)
       dimensions = [1]
  return %0, %1, %2 : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
}

// in i32[3,4] 2 5 -9 7 -9 1 -7 2 9 3 2 -2
// in i32[3] -6 -3 -3
// out i32[3] -1 -16 9
// out i32[3] 7 2 9
// out i32[3] -9 -9 -3
