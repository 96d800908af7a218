#each = affine_map<(d, e) -> (d, e)>
#row = affine_map<(d, e) -> (d, 0)>
#gain = affine_map<(d, e) -> (e)>
func.func @f(%a: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x1xf32>
  %n = arith.constant 4.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %s = linalg.generic {indexing_maps = [#each, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x4xf32>) outs(%zero : tensor<2x1xf32>) {
  ^bb0(%x: f32, %z: f32):
    %t = arith.addf %x, %z : f32
    linalg.yield %t : f32
  } -> tensor<2x1xf32>
  %d = linalg.generic {indexing_maps = [#each, #row, #each],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<2x4xf32>, tensor<2x1xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.divf %y, %n : f32
    %t = arith.subf %x, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x4xf32>
  %v = linalg.generic {indexing_maps = [#each, #row], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<2x4xf32>) outs(%zero : tensor<2x1xf32>) {
  ^bb0(%x: f32, %z: f32):
    %q = arith.mulf %x, %x : f32
    %t = arith.addf %z, %q : f32
    linalg.yield %t : f32
  } -> tensor<2x1xf32>
  %r = linalg.generic {indexing_maps = [#each, #row, #gain, #gain, #each],
                       iterator_types = ["parallel", "parallel"]}
      ins(%d, %v, %g, %b : tensor<2x4xf32>, tensor<2x1xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%e : tensor<2x4xf32>) {
  ^bb0(%x: f32, %y: f32, %w: f32, %u: f32, %z: f32):
    %m = arith.divf %y, %n : f32
    %t = arith.addf %m, %eps : f32
    %i = math.rsqrt %t : f32
    %p = arith.mulf %x, %i : f32
    %q = arith.mulf %p, %w : f32
    %o = arith.addf %q, %u : f32
    linalg.yield %o : f32
  } -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// in f32[2,4] -1.625 0.125 1.125 1.375 -0.375 -0.125 1.875 1.25
// in f32[4] 1.25 0.125 1.625 2.0
// in f32[4] -1.75 -1.375 -1.5 1.5
// out f32[2,4] -3.7374887 -1.3882499 -0.2942568 3.4079893 -3.1257567 -1.479224 0.6136627 2.7673638
