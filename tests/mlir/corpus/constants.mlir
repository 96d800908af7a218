func.func @f(%a: tensor<2x2xf32>, %i: tensor<2xi32>, %l: tensor<2xi64>)
    -> (tensor<2x2xf32>, tensor<2xi32>, tensor<2xi64>, tensor<2xf32>, f32, tensor<2xi32>) {
  %f = arith.constant dense<[[1.0, -2.5], [0x7F800000, 0x7FC00000]]> : tensor<2x2xf32>
  %n = arith.constant dense<[2147483647, -3]> : tensor<2xi32>
  %m = arith.constant dense<[9007199254740993, -5]> : tensor<2xi64>
  %s = arith.constant dense<0.1> : tensor<2xf32>
  %g = arith.constant 1.0e-10 : f32
  %t = arith.constant dense<[true, false]> : tensor<2xi1>
  %k = arith.constant dense<7> : tensor<2xi32>
  %0 = arith.addf %a, %f : tensor<2x2xf32>
  %1 = arith.addi %i, %n : tensor<2xi32>
  %2 = arith.addi %l, %m : tensor<2xi64>
  %3 = arith.select %t, %i, %k : tensor<2xi1>, tensor<2xi32>
  return %0, %1, %2, %s, %g, %3
       : tensor<2x2xf32>, tensor<2xi32>, tensor<2xi64>, tensor<2xf32>, f32, tensor<2xi32>
}

// in f32[2,2] 1.875 1.25 -1.0 1.25
// in i32[2] 1 2
// in i64[2] 0 4
// out f32[2,2] 2.875 -1.25 inf nan
// out i32[2] -2147483648 -1
// out i64[2] 9007199254740993 -1
// out f32[2] 0.1 0.1
// out f32[] 1e-10
// out i32[2] 1 7
