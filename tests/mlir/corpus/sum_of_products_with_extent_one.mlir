// Loops that turn once, on all sides.
#a = affine_map<(h, m, n, k) -> (m, h, k)>
#b = affine_map<(h, m, n, k) -> (n, h, k)>
#c = affine_map<(h, m, n, k) -> (m, h, n)>
func.func @f(%a: tensor<1x3x1xf32>, %b: tensor<1x3x1xf32>) -> tensor<1x3x1xf32> {
  %c = arith.constant dense<0.0> : tensor<1x3x1xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1x3x1xf32>, tensor<1x3x1xf32>) outs(%c : tensor<1x3x1xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %y, %x : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x3x1xf32>
  return %0 : tensor<1x3x1xf32>
}

// in f32[1,3,1] 0.125 1.25 -0.125
// in f32[1,3,1] -1.125 -0.875 0.5
// out f32[1,3,1] -0.140625 -1.09375 -0.0625
