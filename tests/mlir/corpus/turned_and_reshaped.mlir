// A transposition of what is kept once, then other extents: the order of elements counts.
func.func @f(%r: tensor<4xf32>, %a: tensor<2x3xf32>) -> (tensor<12xf32>, tensor<6xf32>) {
  %e = tensor.empty() : tensor<3x4xf32>
  %g = tensor.empty() : tensor<4x3xf32>
  %b = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<3x4xf32>) dimensions = [0]
  %t = linalg.transpose ins(%b : tensor<3x4xf32>) outs(%g : tensor<4x3xf32>) permutation = [1, 0]
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<4x3xf32> into tensor<12xf32>
  %h = tensor.empty() : tensor<3x2xf32>
  %u = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%h : tensor<3x2xf32>) permutation = [1, 0]
  %1 = tensor.collapse_shape %u [[0, 1]] : tensor<3x2xf32> into tensor<6xf32>
  return %0, %1 : tensor<12xf32>, tensor<6xf32>
}

// in f32[4] 0.125 1.5 -0.25 -1.375
// in f32[2,3] -1.75 -1.25 1.25 1.875 -1.5 0.125
// out f32[12] 0.125 0.125 0.125 1.5 1.5 1.5 -0.25 -0.25 -0.25 -1.375 -1.375 -1.375
// out f32[6] -1.75 1.875 -1.25 -1.5 1.25 0.125
