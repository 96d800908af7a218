func.func @f(%a: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %0 = linalg.broadcast ins(%a : tensor<3xf32>) outs(%e : tensor<2x3x4xf32>) dimensions = [0, 2]
  return %0 : tensor<2x3x4xf32>
}

// in f32[3] 1.625 -1.0 -0.875
// out f32[2,3,4] 1.625 1.625 1.625 1.625 -1.0 -1.0 -1.0 -1.0 -0.875 -0.875 -0.875 -0.875 1.625
//   1.625 1.625 1.625 -1.0 -1.0 -1.0 -1.0 -0.875 -0.875 -0.875 -0.875
