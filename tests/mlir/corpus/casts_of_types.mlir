// tensor.cast to the same static type and back.
func.func @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tensor.cast %a : tensor<2x3xf32> to tensor<?x3xf32>
  %1 = tensor.cast %0 : tensor<?x3xf32> to tensor<2x3xf32>
  %2 = arith.negf %1 : tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// in f32[2,3] -0.875 1.625 1.375 1.125 -1.75 -0.25
// out f32[2,3] 0.875 -1.625 -1.375 -1.125 1.75 0.25
