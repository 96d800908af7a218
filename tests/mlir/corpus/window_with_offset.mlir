// It begins at element 1.
#x = affine_map<(o, k) -> (o + k + 1)>
#w = affine_map<(o, k) -> (k)>
#c = affine_map<(o, k) -> (o)>
func.func @f(%x: tensor<9xf32>, %w: tensor<3xf32>) -> tensor<5xf32> {
  %c = arith.constant dense<0.0> : tensor<5xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #c], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<9xf32>, tensor<3xf32>) outs(%c : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %p = arith.mulf %b, %a : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// in f32[9] -1.25 0.875 -1.0 0.625 0.75 -2.0 0.5 -1.125 -1.25
// in f32[3] 1.0 1.75 1.875
// out f32[5] 0.296875 1.5 -1.8125 -1.8125 -3.234375
