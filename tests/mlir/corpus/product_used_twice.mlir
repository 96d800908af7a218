// The product that is summed up is a result of its own as well.
#a = affine_map<(m, k) -> (m, k)>
#b = affine_map<(m, k) -> (k)>
#c = affine_map<(m, k) -> (m)>
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
  %c = arith.constant dense<0.0> : tensor<2xf32>
  %d = tensor.empty() : tensor<2x3xf32>
  %0:2 = linalg.generic {indexing_maps = [#a, #b, #c, #a],
                         iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<2x3xf32>, tensor<3xf32>) outs(%c, %d : tensor<2xf32>, tensor<2x3xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s, %p : f32, f32
  } -> (tensor<2xf32>, tensor<2x3xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2x3xf32>
}

// in f32[2,3] 1.25 1.75 0.375 1.75 -1.25 0.875
// in f32[3] 0.625 -0.125 -0.125
// out f32[2] 0.515625 1.140625
// out f32[2,3] 0.78125 -0.21875 -0.046875 1.09375 0.15625 -0.109375
