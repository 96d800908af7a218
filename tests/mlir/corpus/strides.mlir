// Every second element, from the first and from the second on.
#even = affine_map<(d) -> (d * 2)>
#odd = affine_map<(d) -> (d * 2 + 1)>
#each = affine_map<(d) -> (d)>
func.func @f(%a: tensor<8xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#even, #odd, #each], iterator_types = ["parallel"]}
      ins(%a, %a : tensor<8xf32>, tensor<8xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.subf %x, %y : f32
    %t = arith.mulf %s, %z : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// in f32[8] -1.125 0.75 1.25 0.0 1.75 -1.75 0.75 0.25
// in f32[4] 0.5 0.75 0.0 -0.875
// out f32[4] -0.9375 0.9375 0.0 -0.4375
