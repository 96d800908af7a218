// The same matrix on both sides.
func.func @f(%a: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %c = arith.constant dense<0.0> : tensor<3x3xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<3x3xf32>, tensor<3x3xf32>)
                     outs(%c : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// in f32[3,3] -1.5 -1.625 -1.625 1.25 1.25 1.125 -0.375 -1.25 -0.625
// out f32[3,3] 0.828125 2.4375 1.625 -0.734375 -1.875 -1.328125 -0.765625 -0.171875 -0.40625
