// Sums and maxima of what is kept once.
func.func @f(%n: f32, %c: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = tensor.splat %n : tensor<2x3xf32>
  %0 = linalg.reduce {arith.addf} ins(%a : tensor<2x3xf32>) outs(%c : tensor<2xf32>)
       dimensions = [1]
  %1 = linalg.reduce {arith.minimumf} ins(%a : tensor<2x3xf32>) outs(%c : tensor<2xf32>)
       dimensions = [1]
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// in f32[] -1.0
// in f32[2] 0.625 2.0
// out f32[2] -2.375 -1.0
// out f32[2] -1.0 -1.0
