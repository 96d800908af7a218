#each = affine_map<(d, e) -> (d, e)>
func.func @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%x: f32, %z: f32):
    %n = arith.negf %x : f32
    %p = math.exp %n : f32
    %s = arith.addf %p, %one : f32
    %q = arith.divf %one, %s : f32
    linalg.yield %q : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// in f32[2,3] -1.875 1.375 -0.5 2.0 -1.0 -1.125
// out f32[2,3] 0.13296425 0.7981868 0.37754068 0.880797 0.2689414 0.24508505
