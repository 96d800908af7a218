#each = affine_map<(a, b, c) -> (a, b, c)>
#one = affine_map<(a, b, c) -> (0, b, 0)>
#turned = affine_map<(a, b, c) -> (c, a, b)>
func.func @f(%a: tensor<1x3x1xf32>, %b: tensor<1x1x3xf32>) -> tensor<1x3x1xf32> {
  %e = tensor.empty() : tensor<1x3x1xf32>
  %0 = linalg.generic {indexing_maps = [#one, #turned, #each],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %b : tensor<1x3x1xf32>, tensor<1x1x3xf32>) outs(%e : tensor<1x3x1xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<1x3x1xf32>
  return %0 : tensor<1x3x1xf32>
}

// in f32[1,3,1] -0.625 -1.875 -1.0
// in f32[1,1,3] -0.625 0.625 0.0
// out f32[1,3,1] 0.0 -2.5 -1.0
