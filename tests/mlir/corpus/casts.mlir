// An i1 is 1 without a sign, and -1 with one.
func.func @f(%a: tensor<4xf32>, %i: tensor<4xi32>, %l: tensor<4xi64>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi64>, tensor<4xi32>, tensor<4xf32>,
        tensor<4xi64>, tensor<4xi32>, tensor<4xi64>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %p = arith.cmpf ogt, %a, %zero : tensor<4xf32>
  %0 = arith.uitofp %p : tensor<4xi1> to tensor<4xf32>
  %1 = arith.sitofp %p : tensor<4xi1> to tensor<4xf32>
  %2 = arith.fptosi %a : tensor<4xf32> to tensor<4xi32>
  %3 = arith.extsi %i : tensor<4xi32> to tensor<4xi64>
  %4 = arith.trunci %l : tensor<4xi64> to tensor<4xi32>
  %5 = arith.sitofp %i : tensor<4xi32> to tensor<4xf32>
  %6 = arith.extui %p : tensor<4xi1> to tensor<4xi64>
  %7 = arith.extsi %p : tensor<4xi1> to tensor<4xi32>
  %8 = arith.fptosi %a : tensor<4xf32> to tensor<4xi64>
  %9 = arith.sitofp %l : tensor<4xi64> to tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>,
      tensor<4xi64>, tensor<4xi32>, tensor<4xf32>, tensor<4xi64>, tensor<4xi32>, tensor<4xi64>,
      tensor<4xf32>
}

// in f32[4] -2.75 0.0 2.75 100.5
// in i32[4] -2147483648 16777217 -1 7
// in i64[4] 4294967301 -1 1101659111424 3
// out f32[4] 0.0 0.0 1.0 1.0
// out f32[4] -0.0 -0.0 -1.0 -1.0
// out i32[4] -2 0 2 100
// out i64[4] -2147483648 16777217 -1 7
// out i32[4] 5 -1 -2147483648 3
// out f32[4] -2.1474836e+09 1.6777216e+07 -1.0 7.0
// out i64[4] 0 0 1 1
// out i32[4] 0 0 -1 -1
// out i64[4] -2 0 2 100
// out f32[4] 4.2949673e+09 -1.0 1.1016591e+12 3.0
