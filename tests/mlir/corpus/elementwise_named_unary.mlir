func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
        tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.exp ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = linalg.log ins(%b : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = linalg.abs ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = linalg.negf ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = linalg.square ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = linalg.sqrt ins(%b : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = linalg.rsqrt ins(%b : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = linalg.tanh ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = linalg.erf ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = linalg.reciprocal ins(%b : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<2x3xf32>, tensor<2x3xf32>,
      tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
      tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// in f32[2,3] 1.125 -0.5 0.0 0.375 0.75 1.375
// in f32[2,3] 1.125 1.375 1.625 0.875 0.375 1.25
// out f32[2,3] 3.0802166 0.60653067 1.0 1.4549913 2.117 3.9550767
// out f32[2,3] 0.11778304 0.31845373 0.4855078 -0.13353139 -0.98082924 0.22314355
// out f32[2,3] 1.125 0.5 0.0 0.375 0.75 1.375
// out f32[2,3] -1.125 0.5 -0.0 -0.375 -0.75 -1.375
// out f32[2,3] 1.265625 0.25 0.0 0.140625 0.5625 1.890625
// out f32[2,3] 1.0606601 1.172604 1.2747549 0.9354144 0.61237246 1.118034
// out f32[2,3] 0.9428091 0.8528029 0.78446454 1.069045 1.6329931 0.8944272
// out f32[2,3] 0.8093011 -0.4621172 0.0 0.3583574 0.635149 0.8798267
// out f32[2,3] 0.8883882 -0.5204999 0.0 0.4041169 0.71115565 0.94817007
// out f32[2,3] 0.8888889 0.72727275 0.61538464 1.1428572 2.6666667 0.8
