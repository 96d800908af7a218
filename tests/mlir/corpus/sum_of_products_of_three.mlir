#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#w = affine_map<(m, n, k) -> (k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %w: tensor<3xf32>) -> tensor<2x4xf32> {
  %c = arith.constant dense<0.0> : tensor<2x4xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #w, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %w : tensor<2x3xf32>, tensor<3x4xf32>, tensor<3xf32>)
      outs(%c : tensor<2x4xf32>) {
  ^bb0(%x: f32, %y: f32, %v: f32, %z: f32):
    %p = arith.mulf %x, %v : f32
    %q = arith.mulf %p, %y : f32
    %s = arith.addf %q, %z : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[2,3] 2.0 2.0 1.125 -0.625 1.0 1.25
// in f32[3,4] -1.0 -1.75 0.25 -0.25 -1.625 -0.25 0.75 0.125 -2.0 1.5 0.0 1.125
// in f32[3] -0.125 -0.25 -1.0
// out f32[2,4] 3.3125 -1.125 -0.4375 -1.265625 2.828125 -1.9492188 -0.16796875 -1.4570312
