func.func @f(%a: tensor<3xi64>, %b: tensor<2xi32>) -> (tensor<5xi64>, tensor<3xi32>) {
  %n = arith.constant -7 : i64
  %m = arith.constant 9 : i32
  %0 = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %n : i64
  } : tensor<3xi64> to tensor<5xi64>
  %1 = tensor.pad %b low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %m : i32
  } : tensor<2xi32> to tensor<3xi32>
  return %0, %1 : tensor<5xi64>, tensor<3xi32>
}

// in i64[3] 2 -9 4
// in i32[2] 6 -2
// out i64[5] -7 2 -9 4 -7
// out i32[3] 6 -2 9
