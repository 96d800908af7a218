// No product: all pairs, and then a sum.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %c = arith.constant dense<0.0> : tensor<2x4xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%c : tensor<2x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %d = arith.subf %x, %y : f32
    %q = math.absf %d : f32
    %s = arith.addf %q, %z : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[2,3] -0.75 1.625 0.125 -1.625 -0.125 1.75
// in f32[3,4] -1.75 0.75 -1.75 1.5 0.875 -0.875 -2.0 0.5 -1.125 -0.75 -1.375 -0.875
// out f32[2,4] 3.0 4.875 6.125 4.375 4.0 5.625 5.125 6.375
