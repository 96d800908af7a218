// The least number has no opposite.
func.func @f(%a: tensor<2x3xi32>) -> tensor<2xi32> {
  %c = arith.constant dense<2147483647> : tensor<2xi32>
  %0 = linalg.reduce {arith.minsi} ins(%a : tensor<2x3xi32>) outs(%c : tensor<2xi32>)
       dimensions = [1]
  return %0 : tensor<2xi32>
}

// in i32[2,3] 5 -2147483648 7 2147483647 2147483647 2147483647
// out i32[2] -2147483648 2147483647
