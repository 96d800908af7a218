// The loops reach a part of it: rows 1 and 2.
#part = affine_map<(d, e) -> (d + 1, e)>
#each = affine_map<(d, e) -> (d, e)>
func.func @f(%a: tensor<4x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.generic {indexing_maps = [#part, #each], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x3xf32>) outs(%b : tensor<2x3xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.subf %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// in f32[4,3] 0.75 -0.125 -1.5 0.0 -0.875 0.5 -1.875 1.625 0.125 -0.75 -1.875 -0.375
// in f32[2,3] -0.375 0.625 0.625 0.5 -0.625 -1.375
// out f32[2,3] 0.375 -1.5 -0.125 -2.375 2.25 1.5
