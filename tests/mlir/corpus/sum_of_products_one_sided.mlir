// Only one operand has the loop that is summed up.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %c = arith.constant dense<0.0> : tensor<2x4xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3xf32>, tensor<4xf32>) outs(%c : tensor<2x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %p, %z : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[2,3] 1.375 -1.5 -1.125 -1.5 -0.875 -1.875
// in f32[4] 1.875 0.625 1.25 -1.375
// out f32[2,4] -2.34375 -0.78125 -1.5625 1.71875 -7.96875 -2.65625 -5.3125 5.84375
