// No operand but the result.
#each = affine_map<(d, e) -> (d, e)>
func.func @f(%c: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel"]}
      outs(%c : tensor<2x3xf32>) {
  ^bb0(%z: f32):
    %s = arith.mulf %z, %z : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// in f32[2,3] 1.625 -1.25 -0.375 -0.5 1.0 1.25
// out f32[2,3] 2.640625 1.5625 0.140625 0.25 1.0 1.5625
