// Whole rows of a table.
#which = affine_map<(b, s, d) -> (b, s)>
#each = affine_map<(b, s, d) -> (b, s, d)>
func.func @f(%table: tensor<5x4xf32>, %ids: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %0 = linalg.generic {indexing_maps = [#which, #each],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ids : tensor<2x3xi64>) outs(%e : tensor<2x3x4xf32>) {
  ^bb0(%id: i64, %z: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 2 : index
    %x = tensor.extract %table[%i, %j] : tensor<5x4xf32>
    linalg.yield %x : f32
  } -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// in f32[5,4] 0.125 -0.5 -1.375 1.75 1.625 0.75 1.125 -0.75 -0.125 -1.75 -1.875 2.0 -0.75 0.375
//   -1.75 -0.625 -1.5 -2.0 -1.25 -2.0
// in i64[2,3] 0 3 4 1 2 1
// out f32[2,3,4] 0.125 -0.5 -1.375 1.75 -0.75 0.375 -1.75 -0.625 -1.5 -2.0 -1.25 -2.0 1.625 0.75
//   1.125 -0.75 -0.125 -1.75 -1.875 2.0 1.625 0.75 1.125 -0.75
