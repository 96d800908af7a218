#in = affine_map<(d, e) -> (e * 3, d * 2)>
#out = affine_map<(d, e) -> (d, e)>
func.func @f(%a: tensor<7x5xf32>) -> tensor<3x3xf32> {
  %e = tensor.empty() : tensor<3x3xf32>
  %0 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<7x5xf32>) outs(%e : tensor<3x3xf32>) {
  ^bb0(%x: f32, %z: f32):
    linalg.yield %x : f32
  } -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// in f32[7,5] -0.875 0.875 1.875 1.0 -1.875 1.375 -0.375 0.875 1.625 1.75 1.25 0.375 -0.5 0.75
//   1.125 -1.875 -1.25 1.75 -0.5 -1.625 0.375 -1.375 -1.75 0.125 1.125 0.625 -0.625 1.25 -0.5 -2.0
//   -1.125 -1.0 1.0 1.625 -1.25
// out f32[3,3] -0.875 -1.875 -1.125 1.875 1.75 1.0 -1.875 -1.625 -1.25
