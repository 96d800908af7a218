// A NaN is not above 0, and becomes 0.
#each = affine_map<(d) -> (d)>
func.func @f(%a: tensor<5xf32>) -> tensor<5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5xf32>
  %0 = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%a : tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%x: f32, %z: f32):
    %t = arith.cmpf ugt, %x, %zero : f32
    %s = arith.select %t, %x, %zero : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// in f32[5] -1.0 0.0 2.0 nan inf
// out f32[5] 0.0 0.0 2.0 nan inf
