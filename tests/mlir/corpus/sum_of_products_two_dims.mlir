// Two loops are summed up, in another order in each operand.
#a = affine_map<(n, m, k, j) -> (m, k, j)>
#b = affine_map<(n, m, k, j) -> (j, n, k)>
#c = affine_map<(n, m, k, j) -> (n, m)>
func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<4x5x3xf32>) -> tensor<5x2xf32> {
  %c = arith.constant dense<0.0> : tensor<5x2xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<2x3x4xf32>, tensor<4x5x3xf32>) outs(%c : tensor<5x2xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %p, %z : f32
    linalg.yield %s : f32
  } -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// in f32[2,3,4] -0.75 -0.5 -1.875 0.625 0.75 0.75 0.25 1.5 1.75 -1.75 -1.75 1.25 1.25 -0.25 1.125
//   0.0 -1.25 -0.375 1.375 -0.375 1.375 1.0 -1.375 -0.375
// in f32[4,5,3] 1.375 2.0 -1.75 -1.25 -1.5 -1.75 -0.875 -0.75 0.875 -1.625 1.125 -0.75 0.75 1.5
//   1.25 1.375 0.5 -1.375 1.375 1.875 -0.75 0.25 0.625 1.375 1.375 -0.25 -0.625 -2.0 -1.125 -1.0
//   0.5 -0.875 0.5 1.375 -1.875 -1.75 -1.25 1.75 0.625 -0.375 -0.375 0.875 -1.75 1.125 1.0 0.875
//   2.0 1.5 0.375 1.625 0.375 0.25 -2.0 -0.375 -0.875 0.75 1.125 0.25 -1.625 0.875
// out f32[5,2] 2.890625 -7.734375 1.9375 -3.265625 -2.0625 3.15625 2.03125 -8.1875 5.28125 -0.8125
