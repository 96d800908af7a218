func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x4xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>)
                     outs(%0 : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// in f32[2,3] -1.625 2.0 1.5 0.25 1.875 -1.75
// in f32[3,4] -1.625 -0.375 0.375 1.125 -0.375 -0.625 -2.0 0.0 -0.25 -1.75 -1.75 1.5
// out f32[2,4] 1.515625 -3.265625 -7.234375 0.421875 -0.671875 1.796875 -0.59375 -2.34375
