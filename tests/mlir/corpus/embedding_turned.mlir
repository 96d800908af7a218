// The rows' dim comes first in the result.
#which = affine_map<(d, s) -> (s)>
#each = affine_map<(d, s) -> (d, s)>
func.func @f(%table: tensor<5x4xf32>, %ids: tensor<3xi32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %0 = linalg.generic {indexing_maps = [#which, #each], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<3xi32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%id: i32, %z: f32):
    %i = arith.index_cast %id : i32 to index
    %j = linalg.index 0 : index
    %x = tensor.extract %table[%i, %j] : tensor<5x4xf32>
    linalg.yield %x : f32
  } -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// in f32[5,4] -0.75 1.125 0.25 0.5 -0.125 1.25 -0.875 0.375 1.625 -1.75 0.0 0.25 1.75 -0.625 1.5
//   0.5 -0.75 -1.0 -0.625 0.375
// in i32[3] 3 2 0
// out f32[4,3] 1.75 1.625 -0.75 -0.625 -1.75 1.125 1.5 0.0 0.25 0.5 0.25 0.5
