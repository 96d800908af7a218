// What was there before is an operand like others.
#each = affine_map<(d, e) -> (d, e)>
#turned = affine_map<(d, e) -> (e, d)>
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<2x3xf32>)
    -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#each, #turned, #each],
                         iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<2x3xf32>) outs(%b, %c : tensor<3x2xf32>, tensor<2x3xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.mulf %y, %z : f32
    %t = arith.subf %s, %x : f32
    linalg.yield %t, %y : f32, f32
  } -> (tensor<3x2xf32>, tensor<2x3xf32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<2x3xf32>
}

// in f32[2,3] 1.0 -0.625 1.0 1.125 -0.5 0.25
// in f32[3,2] 0.75 1.125 1.625 -0.5 -1.5 0.125
// in f32[2,3] 1.375 1.5 -1.125 1.5 -2.0 0.0
// out f32[3,2] 0.03125 0.5625 3.0625 1.5 0.6875 -0.25
// out f32[2,3] 0.75 1.625 -1.5 1.125 -0.5 0.125
