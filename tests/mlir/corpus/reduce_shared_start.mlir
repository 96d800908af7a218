// Both results begin with the same tensor, which stays as it was.
#a = affine_map<(m, k) -> (m, k)>
#c = affine_map<(m, k) -> (m)>
func.func @f(%a: tensor<2x3xf32>, %c: tensor<2xf32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#a, #c, #c], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x3xf32>) outs(%c, %c : tensor<2xf32>, tensor<2xf32>) {
  ^bb0(%x: f32, %z: f32, %w: f32):
    %s = arith.addf %x, %z : f32
    %m = arith.maximumf %x, %w : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<2xf32>, tensor<2xf32>)
  %1 = arith.negf %c : tensor<2xf32>
  return %0#0, %0#1, %1 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// in f32[2,3] 0.625 0.375 0.25 -0.5 0.875 -0.125
// in f32[2] -0.25 0.0
// out f32[2] 1.0 0.25
// out f32[2] 0.625 0.875
// out f32[2] 0.25 -0.0
