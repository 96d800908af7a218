// Nothing is summed up.
#a = affine_map<(m, n) -> (m)>
#b = affine_map<(m, n) -> (n)>
#c = affine_map<(m, n) -> (m, n)>
func.func @f(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<2xf32>, tensor<3xf32>) outs(%c : tensor<2x3xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %p, %z : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// in f32[2] 1.875 1.75
// in f32[3] 1.625 -2.0 -1.25
// in f32[2,3] 1.25 0.75 2.0 1.875 0.5 -0.375
// out f32[2,3] 4.296875 -3.0 -0.34375 4.71875 -3.0 -2.5625
