// One row, one column, one element.
#row = affine_map<(d, e) -> (1, e)>
#column = affine_map<(d, e) -> (d, 2)>
#one = affine_map<(d, e) -> (0, 3)>
#each = affine_map<(d, e) -> (d, e)>
func.func @f(%a: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %0 = linalg.generic {indexing_maps = [#row, #column, #one, #each],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %a, %a : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
      outs(%e : tensor<3x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    %s = arith.subf %x, %y : f32
    %t = arith.mulf %s, %z : f32
    linalg.yield %t : f32
  } -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// in f32[3,4] -0.625 1.625 -0.625 -0.625 0.125 0.25 1.125 -1.375 1.75 0.0 -1.125 -1.5
// out f32[3,4] -0.46875 -0.546875 -1.09375 0.46875 0.625 0.546875 -0.0 1.5625 -0.78125 -0.859375
//   -1.40625 0.15625
