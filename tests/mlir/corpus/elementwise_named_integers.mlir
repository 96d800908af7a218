func.func @f(%a: tensor<2x3xi32>, %b: tensor<2x3xi32>)
    -> (tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>) {
  %e = tensor.empty() : tensor<2x3xi32>
  %0 = linalg.add ins(%a, %b : tensor<2x3xi32>, tensor<2x3xi32>)
       outs(%e : tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = linalg.sub ins(%a, %b : tensor<2x3xi32>, tensor<2x3xi32>)
       outs(%e : tensor<2x3xi32>) -> tensor<2x3xi32>
  %2 = linalg.mul ins(%a, %b : tensor<2x3xi32>, tensor<2x3xi32>)
       outs(%e : tensor<2x3xi32>) -> tensor<2x3xi32>
  %3 = linalg.max ins(%a, %b : tensor<2x3xi32>, tensor<2x3xi32>)
       outs(%e : tensor<2x3xi32>) -> tensor<2x3xi32>
  %4 = linalg.min ins(%a, %b : tensor<2x3xi32>, tensor<2x3xi32>)
       outs(%e : tensor<2x3xi32>) -> tensor<2x3xi32>
  return %0, %1, %2, %3, %4 : tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>,
                              tensor<2x3xi32>
}

// in i32[2,3] 2147483647 3 -4 -2147483648 65536 7
// in i32[2,3] 1 -3 4 -1 65537 0
// out i32[2,3] -2147483648 0 0 2147483647 131073 7
// out i32[2,3] 2147483646 6 -8 -2147483647 -1 7
// out i32[2,3] 2147483647 -9 -16 -2147483648 65536 0
// out i32[2,3] 2147483647 3 4 -1 65537 7
// out i32[2,3] 1 -3 -4 -2147483648 65536 0
