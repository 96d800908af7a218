// An operand of rank 0, one of extent 1, and a number from outside.
#all = affine_map<(m, n) -> (m, n)>
#none = affine_map<(m, n) -> ()>
#column = affine_map<(m, n) -> (m, 0)>
func.func @f(%a: tensor<2x3xf32>, %b: tensor<f32>, %c: tensor<2x1xf32>, %n: f32)
    -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.generic {indexing_maps = [#all, #none, #column, #all],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c : tensor<2x3xf32>, tensor<f32>, tensor<2x1xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    %s = arith.mulf %x, %y : f32
    %t = arith.subf %z, %s : f32
    %u = arith.addf %t, %n : f32
    linalg.yield %u : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// in f32[2,3] 0.625 0.125 -0.875 0.125 -0.875 -1.375
// in f32[] 1.0
// in f32[2,1] -0.875 -1.75
// in f32[] -0.875
// out f32[2,3] -2.375 -1.875 -0.875 -2.75 -1.75 -1.25
