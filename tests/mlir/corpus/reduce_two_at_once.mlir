// Two results of one nest of loops.
#a = affine_map<(m, k) -> (m, k)>
#c = affine_map<(m, k) -> (m)>
func.func @f(%a: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %least = arith.constant dense<0xFF800000> : tensor<2xf32>
  %0:2 = linalg.generic {indexing_maps = [#a, #c, #c], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x3xf32>) outs(%zero, %least : tensor<2xf32>, tensor<2xf32>) {
  ^bb0(%x: f32, %z: f32, %w: f32):
    %q = arith.mulf %x, %x : f32
    %s = arith.addf %q, %z : f32
    %m = arith.maximumf %x, %w : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}

// in f32[2,3] -1.75 0.5 1.625 1.0 -1.875 0.25
// out f32[2] 5.953125 4.578125
// out f32[2] 1.625 1.0
