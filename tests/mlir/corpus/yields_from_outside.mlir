// The body gives a number from outside, a constant, an operand of its own.
#each = affine_map<(d, e) -> (d, e)>
#turned = affine_map<(d, e) -> (e, d)>
func.func @f(%n: f32, %a: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>) {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %g = tensor.empty() : tensor<3x2xf32>
  %0:3 = linalg.generic {indexing_maps = [#each, #each, #each, #turned],
                         iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<2x3xf32>)
      outs(%e, %e, %g : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    linalg.yield %n, %two, %x : f32, f32, f32
  } -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>
}

// in f32[] -0.625
// in f32[2,3] 1.0 -2.0 1.125 1.25 -1.0 0.875
// out f32[2,3] -0.625 -0.625 -0.625 -0.625 -0.625 -0.625
// out f32[2,3] 2.0 2.0 2.0 2.0 2.0 2.0
// out f32[3,2] 1.0 1.25 -2.0 -1.0 1.125 0.875
