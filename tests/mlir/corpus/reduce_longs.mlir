// With what is least and largest to begin with.
func.func @f(%a: tensor<3x4xi64>) -> (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>) {
  %zero = arith.constant dense<0> : tensor<4xi64>
  %least = arith.constant dense<-9223372036854775808> : tensor<4xi64>
  %most = arith.constant dense<9223372036854775807> : tensor<4xi64>
  %0 = linalg.reduce {arith.addi} ins(%a : tensor<3x4xi64>) outs(%zero : tensor<4xi64>)
       dimensions = [0]
  %1 = linalg.reduce {arith.maxsi} ins(%a : tensor<3x4xi64>) outs(%least : tensor<4xi64>)
       dimensions = [0]
  %2 = linalg.reduce {arith.minsi} ins(%a : tensor<3x4xi64>) outs(%most : tensor<4xi64>)
       dimensions = [0]
  return %0, %1, %2 : tensor<4xi64>, tensor<4xi64>, tensor<4xi64>
}

// in i64[3,4] 1099511627776 -3 7 0 -2199023255552 5 7 1 1 -9 -9223372036854775808
//   4611686018427387904
// out i64[4] -1099511627775 -7 -9223372036854775794 4611686018427387905
// out i64[4] 1099511627776 5 7 4611686018427387904
// out i64[4] -2199023255552 -9 -9223372036854775808 0
