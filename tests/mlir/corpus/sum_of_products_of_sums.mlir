// The factors are computed in the body.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %one = arith.constant 1.0 : f32
  %c = arith.constant dense<0.0> : tensor<2x4xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%c : tensor<2x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %v = arith.addf %x, %one : f32
    %w = arith.subf %one, %y : f32
    %p = arith.mulf %v, %w : f32
    %s = arith.addf %p, %z : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[2,3] 1.25 0.125 1.25 1.5 -0.875 -2.0
// in f32[3,4] -0.75 1.625 -1.75 1.125 -0.375 -1.25 1.0 0.125 -1.5 0.375 -2.0 -0.75
// out f32[2,4] 11.109375 2.53125 12.9375 4.640625 2.046875 -1.90625 3.875 -1.953125
