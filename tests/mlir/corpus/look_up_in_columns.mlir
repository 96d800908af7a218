// Along the last dim: the first index is the loop's own number.
#each = affine_map<(d, e) -> (d, e)>
func.func @f(%table: tensor<3x4xf32>, %j: tensor<3x2xi64>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%j : tensor<3x2xi64>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%a: i64, %z: f32):
    %c = linalg.index 0 : index
    %d = arith.index_cast %a : i64 to index
    %x = tensor.extract %table[%c, %d] : tensor<3x4xf32>
    linalg.yield %x : f32
  } -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// in f32[3,4] 1.625 -0.875 0.75 -0.625 -1.25 0.375 -0.75 0.375 0.875 0.25 -1.625 -0.375
// in i64[3,2] 2 1 1 0 3 0
// out f32[3,2] 0.75 -0.875 0.375 -1.25 -0.375 0.875
