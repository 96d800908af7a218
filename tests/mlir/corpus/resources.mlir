// Elements that the file has behind the module.
func.func @f(%a: tensor<4xf32>, %b: tensor<2xi64>, %c: tensor<2xi32>)
    -> (tensor<4xf32>, tensor<2xi64>, tensor<2xi32>) {
  %w = arith.constant dense_resource<w> : tensor<4xf32>
  %m = arith.constant dense_resource<m> : tensor<2xi64>
  %n = arith.constant dense_resource<n> : tensor<2xi32>
  %0 = arith.mulf %a, %w : tensor<4xf32>
  %1 = arith.addi %b, %m : tensor<2xi64>
  %2 = arith.addi %c, %n : tensor<2xi32>
  return %0, %1, %2 : tensor<4xf32>, tensor<2xi64>, tensor<2xi32>
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F000000C00000003F00004040",
      m: "0x08000000050000000000000000000000FEFFFFFF",
      n: "0x0400000007000000FFFFFFFF"
    }
  }
#-}

// in f32[4] 0.625 1.0 1.375 1.75
// in i64[2] -6 6
// in i32[2] -8 4
// out f32[4] 0.625 -2.0 0.6875 5.25
// out i64[2] -1 -8589934586
// out i32[2] -1 3
