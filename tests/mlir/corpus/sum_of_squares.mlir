// A product of an element with itself.
#a = affine_map<(m, k) -> (m, k)>
#c = affine_map<(m, k) -> (m)>
func.func @f(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  %c = arith.constant dense<0.0> : tensor<2xf32>
  %0 = linalg.generic {indexing_maps = [#a, #c], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x3xf32>) outs(%c : tensor<2xf32>) {
  ^bb0(%x: f32, %z: f32):
    %p = arith.mulf %x, %x : f32
    %s = arith.addf %p, %z : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// in f32[2,3] 0.0 -0.875 0.875 -1.125 0.375 0.75
// out f32[2] 1.53125 1.96875
