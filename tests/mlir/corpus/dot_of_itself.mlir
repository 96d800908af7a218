func.func @f(%a: tensor<5xf32>) -> tensor<f32> {
  %c = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.dot ins(%a, %a : tensor<5xf32>, tensor<5xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// in f32[5] -0.375 0.125 -0.125 1.375 0.375
// out f32[] 2.203125
