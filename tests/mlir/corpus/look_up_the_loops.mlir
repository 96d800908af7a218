// No index is computed: a transposition, and a diagonal.
#each = affine_map<(d, e) -> (d, e)>
#first = affine_map<(d, e) -> (d)>
func.func @f(%table: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) {
  %e = tensor.empty() : tensor<3x3xf32>
  %0:2 = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
      outs(%e, %e : tensor<3x3xf32>, tensor<3x3xf32>) {
  ^bb0(%z: f32, %w: f32):
    %c = linalg.index 0 : index
    %d = linalg.index 1 : index
    %x = tensor.extract %table[%d, %c] : tensor<3x3xf32>
    %y = tensor.extract %table[%c, %c] : tensor<3x3xf32>
    linalg.yield %x, %y : f32, f32
  } -> (tensor<3x3xf32>, tensor<3x3xf32>)
  return %0#0, %0#1 : tensor<3x3xf32>, tensor<3x3xf32>
}

// in f32[3,3] -0.875 1.625 -1.0 1.875 2.0 -0.75 -2.0 -0.25 -2.0
// out f32[3,3] -0.875 1.875 -2.0 1.625 2.0 -0.25 -1.0 -0.75 -2.0
// out f32[3,3] -0.875 -0.875 -0.875 2.0 2.0 2.0 -2.0 -2.0 -2.0
