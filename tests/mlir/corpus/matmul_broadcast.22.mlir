// One vector stands for all rows.
func.func @f(%a: tensor<3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %c = arith.constant dense<0.0> : tensor<2x4xf32>
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k)>,
                                      affine_map<(m, n, k) -> (k, n)>,
                                      affine_map<(m, n, k) -> (m, n)>]
                     ins(%a, %b : tensor<3xf32>, tensor<3x4xf32>)
                     outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[3] -1.125 -0.125 0.125
// in f32[3,4] -0.375 -0.25 0.625 1.125 0.125 1.875 0.5 -2.0 0.375 0.75 -1.0 -1.875
// out f32[2,4] 0.453125 0.140625 -0.890625 -1.25 0.453125 0.140625 -0.890625 -1.25
