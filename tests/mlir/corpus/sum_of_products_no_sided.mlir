// A loop that neither operand has: the extent of a third one, which is not used.
#a = affine_map<(m, n, k) -> (m)>
#b = affine_map<(m, n, k) -> (n)>
#u = affine_map<(m, n, k) -> (k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%a: tensor<2xf32>, %b: tensor<4xf32>, %u: tensor<3xf32>) -> tensor<2x4xf32> {
  %c = arith.constant dense<0.5> : tensor<2x4xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #u, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %u : tensor<2xf32>, tensor<4xf32>, tensor<3xf32>) outs(%c : tensor<2x4xf32>) {
  ^bb0(%x: f32, %y: f32, %w: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %p, %z : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[2] 0.125 2.0
// in f32[4] -1.375 2.0 -0.75 1.625
// in f32[3] 1.375 1.0 -2.0
// out f32[2,4] -0.015625 1.25 0.21875 1.109375 -7.75 12.5 -4.0 10.25
