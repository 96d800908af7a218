// The map of the operand is turned, that of the result is not.
#in = affine_map<(a, b, c) -> (c, a, b)>
#out = affine_map<(a, b, c) -> (a, b, c)>
func.func @f(%a: tensor<4x2x3xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %0 = linalg.generic {indexing_maps = [#in, #out, #out],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %b : tensor<4x2x3xf32>, tensor<2x3x4xf32>) outs(%e : tensor<2x3x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// in f32[4,2,3] 1.0 1.25 0.875 -1.75 -1.375 0.125 1.75 0.125 1.625 -0.5 1.0 -1.375 -0.375 -0.5
//   -2.0 -1.25 1.25 -0.125 2.0 1.375 1.875 -1.75 -0.75 0.75
// in f32[2,3,4] 1.5 0.875 -0.25 1.375 2.0 2.0 0.5 1.25 -0.875 -1.625 1.875 -0.75 -0.625 1.375
//   -0.25 0.625 1.25 0.875 -0.5 -0.875 1.75 -0.75 1.375 1.25
// out f32[2,3,4] -0.5 0.875 -0.125 0.625 -0.75 -1.875 -1.0 0.125 1.75 3.25 -3.875 2.625 -1.125
//   -1.875 -1.0 -2.375 -2.625 0.125 1.75 0.125 -1.625 -0.625 -1.5 -0.5
