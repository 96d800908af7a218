// As jax writes it: the largest taken off, then the sum divided by.
#each = affine_map<(d, e) -> (d, e)>
#row = affine_map<(d, e) -> (d)>
func.func @f(%a: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<2x5xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%r : tensor<2xf32>) -> tensor<2xf32>
  %m = linalg.reduce {arith.maximumf} ins(%a : tensor<2x5xf32>) outs(%m0 : tensor<2xf32>)
       dimensions = [1]
  %m1 = linalg.fill ins(%low : f32) outs(%r : tensor<2xf32>) -> tensor<2xf32>
  %m2 = linalg.map {arith.maximumf} ins(%m1, %m : tensor<2xf32>, tensor<2xf32>)
        outs(%r : tensor<2xf32>)
  %d = linalg.generic {indexing_maps = [#each, #row, #each],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %m2 : tensor<2x5xf32>, tensor<2xf32>) outs(%e : tensor<2x5xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.subf %x, %y : f32
    %p = math.exp %s : f32
    linalg.yield %p : f32
  } -> tensor<2x5xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%r : tensor<2xf32>) -> tensor<2xf32>
  %s = linalg.reduce {arith.addf} ins(%d : tensor<2x5xf32>) outs(%s0 : tensor<2xf32>)
       dimensions = [1]
  %q = linalg.generic {indexing_maps = [#each, #row, #each],
                       iterator_types = ["parallel", "parallel"]}
      ins(%d, %s : tensor<2x5xf32>, tensor<2xf32>) outs(%e : tensor<2x5xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %v = arith.divf %x, %y : f32
    linalg.yield %v : f32
  } -> tensor<2x5xf32>
  return %q : tensor<2x5xf32>
}

// in f32[2,5] -0.125 -0.875 1.375 1.5 0.875 0.875 -1.125 0.75 -0.75 -0.375
// out f32[2,5] 0.07272327 0.03435204 0.3259231 0.36931923 0.19768234 0.39980033 0.05410709
//   0.35282254 0.078725345 0.114544705
