// The dims of the sum are in another order.
#a = affine_map<(m, n, k) -> (k, m, n)>
#c = affine_map<(m, n, k) -> (n, m)>
func.func @f(%a: tensor<4x2x3xf32>) -> tensor<3x2xf32> {
  %c = arith.constant dense<0.0> : tensor<3x2xf32>
  %0 = linalg.generic {indexing_maps = [#a, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a : tensor<4x2x3xf32>) outs(%c : tensor<3x2xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.addf %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// in f32[4,2,3] -1.25 -1.25 1.625 -0.25 -1.125 -0.5 -2.0 -1.25 0.5 -1.25 -2.0 0.5 1.25 1.875 0.625
//   0.125 -0.625 -1.25 -1.625 -1.625 -2.0 1.625 -1.25 -1.5
// out f32[3,2] -3.625 0.25 -2.25 -5.0 0.75 -2.75
