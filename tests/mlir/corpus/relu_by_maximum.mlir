func.func @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x3xf32>
  %0 = arith.maximumf %a, %zero : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// in f32[2,3] -0.75 -0.375 0.5 -0.5 0.125 1.625
// out f32[2,3] 0.0 0.0 0.5 0.0 0.125 1.625
