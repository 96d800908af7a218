// absf of -0.0 is 0; -0.0 - x; a comparison of zeros.
func.func @f(%a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %0 = math.absf %a : tensor<3xf32>
  %1 = arith.divf %one, %0 : tensor<3xf32>
  %2 = arith.negf %b : tensor<3xf32>
  %3 = arith.divf %one, %2 : tensor<3xf32>
  return %1, %3 : tensor<3xf32>, tensor<3xf32>
}

// in f32[3] -0.0 0.0 -2.0
// in f32[3] -0.0 0.0 4.0
// out f32[3] inf inf 0.5
// out f32[3] inf -inf -0.25
