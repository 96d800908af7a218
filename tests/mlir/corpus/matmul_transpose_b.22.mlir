func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %c = arith.constant dense<0.0> : tensor<2x4xf32>
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                                      affine_map<(m, n, k) -> (n, k)>,
                                      affine_map<(m, n, k) -> (m, n)>]
                     ins(%a, %b : tensor<2x3xf32>, tensor<4x3xf32>)
                     outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[2,3] -1.375 -2.0 -2.0 1.375 0.625 0.5
// in f32[4,3] -1.375 1.5 -1.75 0.375 0.0 0.0 -1.25 0.5 0.375 -1.125 0.125 1.25
// out f32[2,4] 2.390625 -0.515625 -0.03125 -1.203125 -1.828125 0.515625 -1.21875 -0.84375
