#none = affine_map<() -> ()>
func.func @f(%a: tensor<f32>, %b: tensor<f32>, %n: f32) -> (tensor<f32>, f32) {
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.generic {indexing_maps = [#none, #none, #none], iterator_types = []}
      ins(%a, %b : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.mulf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %1 = tensor.extract %0[] : tensor<f32>
  %2 = arith.subf %1, %n : f32
  return %0, %2 : tensor<f32>, f32
}

// in f32[] -0.75
// in f32[] 1.25
// in f32[] -1.25
// out f32[] -0.9375
// out f32[] 0.3125
