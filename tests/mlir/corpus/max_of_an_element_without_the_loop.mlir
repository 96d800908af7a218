#a = affine_map<(m, k) -> (m)>
#u = affine_map<(m, k) -> (k)>
#c = affine_map<(m, k) -> (m)>
func.func @f(%a: tensor<2xf32>, %u: tensor<3xf32>, %c: tensor<2xf32>) -> tensor<2xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #u, #c], iterator_types = ["parallel", "reduction"]}
      ins(%a, %u : tensor<2xf32>, tensor<3xf32>) outs(%c : tensor<2xf32>) {
  ^bb0(%x: f32, %w: f32, %z: f32):
    %s = arith.maximumf %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// in f32[2] -0.875 -0.375
// in f32[3] 1.5 -0.375 0.75
// in f32[2] 0.375 -0.25
// out f32[2] 0.375 -0.25
