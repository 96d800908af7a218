// As with keepdims: the result has a dim that no loop walks.
#a = affine_map<(m, k) -> (m, k)>
#c = affine_map<(m, k) -> (m, 0)>
func.func @f(%a: tensor<2x3xf32>, %c: tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>) {
  %zero = arith.constant dense<0.0> : tensor<2x1xf32>
  %0 = linalg.generic {indexing_maps = [#a, #c], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x3xf32>) outs(%zero : tensor<2x1xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.addf %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<2x1xf32>
  %1 = linalg.generic {indexing_maps = [#a, #c], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x3xf32>) outs(%c : tensor<2x1xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.maximumf %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<2x1xf32>
  return %0, %1 : tensor<2x1xf32>, tensor<2x1xf32>
}

// in f32[2,3] -2.0 0.0 -1.5 -1.125 -2.0 -1.75
// in f32[2,1] 1.125 0.875
// out f32[2,1] -3.5 -4.875
// out f32[2,1] 1.125 0.875
