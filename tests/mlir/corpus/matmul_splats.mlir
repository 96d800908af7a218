// Of both.
func.func @f(%n: f32) -> tensor<2x4xf32> {
  %a = tensor.splat %n : tensor<2x3xf32>
  %b = arith.constant dense<0.5> : tensor<3x4xf32>
  %c = arith.constant dense<0.0> : tensor<2x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>)
                     outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[] 1.625
// out f32[2,4] 2.4375 2.4375 2.4375 2.4375 2.4375 2.4375 2.4375 2.4375
