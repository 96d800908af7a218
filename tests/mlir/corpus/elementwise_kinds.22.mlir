#same = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>
#row = affine_map<(m, n) -> (n)>
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %r: tensor<3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.elementwise kind=#linalg.elementwise_kind<exp>
       ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = linalg.elementwise kind=#linalg.elementwise_kind<sub> indexing_maps = [#turned, #row, #same]
       ins(%b, %r : tensor<3x2xf32>, tensor<3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// in f32[2,3] 1.5 -0.125 -1.625 1.625 -1.375 0.5
// in f32[3,2] 0.0 1.625 -1.5 0.0 -0.375 0.125
// in f32[3] 1.25 0.375 -0.125
// out f32[2,3] 4.481689 0.8824969 0.19691166 5.078419 0.2528396 1.6487212
// out f32[2,3] -1.25 -1.875 -0.25 0.375 -0.375 0.25
