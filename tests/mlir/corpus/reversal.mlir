// Backwards, and backwards by twos.
#back = affine_map<(d, e) -> (d, -e + 7)>
#twos = affine_map<(d, e) -> (-d * 2 + 2, e)>
#each = affine_map<(d, e) -> (d, e)>
func.func @f(%a: tensor<2x8xf32>, %b: tensor<3x8xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x8xf32>
  %0 = linalg.generic {indexing_maps = [#back, #twos, #each],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<2x8xf32>, tensor<3x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// in f32[2,8] 0.125 0.5 -1.75 0.25 1.625 1.625 -1.875 -0.875 0.125 1.625 0.125 -1.75 1.5 0.75
//   -0.625 1.875
// in f32[3,8] 2.0 -0.25 1.375 1.875 0.75 1.625 -0.25 0.125 1.75 -1.875 -2.0 0.625 1.875 -1.375
//   -0.75 0.75 -0.5 -2.0 2.0 2.0 -0.125 0.25 -0.125 1.25
// out f32[2,8] -0.375 0.125 -0.375 -0.375 0.375 -2.0 0.625 -1.125 -0.125 -0.375 -0.625 -0.375 -2.5
//   -1.5 1.875 0.0
