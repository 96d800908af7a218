// An input, twice; a constant; an input in other extents.
func.func @f(%a: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi64>, tensor<6xf32>) {
  %c = arith.constant dense<[3, 4]> : tensor<2xi64>
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  return %a, %a, %c, %0 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi64>, tensor<6xf32>
}

// in f32[2,3] -0.25 0.25 -0.125 0.25 1.375 -0.125
// out f32[2,3] -0.25 0.25 -0.125 0.25 1.375 -0.125
// out f32[2,3] -0.25 0.25 -0.125 0.25 1.375 -0.125
// out i64[2] 3 4
// out f32[6] -0.25 0.25 -0.125 0.25 1.375 -0.125
