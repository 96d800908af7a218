// A line that two loops walk, the inner one first in the map; backwards filter by its own map.
#x = affine_map<(o, k) -> (k * 2 + o)>
#w = affine_map<(o, k) -> (-k + 2)>
#c = affine_map<(o, k) -> (o)>
func.func @f(%x: tensor<9xf32>, %w: tensor<3xf32>, %u: tensor<3xf32>) -> tensor<5xf32> {
  %c = arith.constant dense<0.0> : tensor<5xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, affine_map<(o, k) -> (k)>, #c],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %w, %u : tensor<9xf32>, tensor<3xf32>, tensor<3xf32>) outs(%c : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %v: f32, %z: f32):
    %p = arith.mulf %b, %a : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// in f32[9] -1.625 0.625 0.75 1.0 -1.875 0.0 -0.25 0.125 -0.875
// in f32[3] -1.625 1.75 -0.5
// in f32[3] 2.0 0.625 -1.5
// out f32[5] 5.171875 1.4375 -3.25 -0.703125 1.921875
