// All elements of one operand are alike, and are kept once.
func.func @f(%a: tensor<2x3xf32>, %n: f32) -> tensor<2x4xf32> {
  %b = tensor.splat %n : tensor<3x4xf32>
  %c = arith.constant dense<1.0> : tensor<2x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>)
                     outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[2,3] 1.5 -0.125 0.375 1.875 0.0 -1.75
// in f32[] 0.375
// out f32[2,4] 1.65625 1.65625 1.65625 1.65625 1.046875 1.046875 1.046875 1.046875
