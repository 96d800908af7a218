#back = affine_map<(d) -> (-d + 3)>
#each = affine_map<(d) -> (d)>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#back, #each], iterator_types = ["parallel"]}
      ins(%c : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.mulf %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// in f32[4] 1.875 -1.125 0.875 -0.375
// out f32[4] 7.5 -3.375 1.75 -0.375
