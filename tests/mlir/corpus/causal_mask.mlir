// What lies behind is hidden, by the numbers of the loops.
#each = affine_map<(d, e) -> (d, e)>
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %low = arith.constant -1.0e+09 : f32
  %0 = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel"]}
      outs(%a : tensor<4x4xf32>) {
  ^bb0(%x: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %t = arith.cmpi sge, %i, %j : index
    %s = arith.select %t, %x, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// in f32[4,4] -0.25 1.375 0.125 -1.125 0.375 0.125 1.375 -0.75 0.0 -0.75 0.875 1.875 -0.375 1.0
//   -0.875 1.875
// out f32[4,4] -0.25 -1e+09 -1e+09 -1e+09 0.375 0.125 -1e+09 -1e+09 0.0 -0.75 0.875 -1e+09 -0.375
//   1.0 -0.875 1.875
