// No sum: the products are there before the maximum.
#a = affine_map<(m, k) -> (m, k)>
#b = affine_map<(m, k) -> (k)>
#c = affine_map<(m, k) -> (m)>
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<2xf32>) -> tensor<2xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<2x3xf32>, tensor<3xf32>) outs(%c : tensor<2xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.maximumf %p, %z : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// in f32[2,3] 1.25 1.125 -1.375 1.375 -2.0 0.25
// in f32[3] -1.75 1.5 1.25
// in f32[2] 1.5 -0.625
// out f32[2] 1.6875 0.3125
