// Of what is kept once along one dim, of constants, of a splat, of one element.
func.func @f(%r: tensor<4xf32>, %n: tensor<f32>)
    -> (tensor<12xf32>, tensor<3x2xf32>, tensor<4x3xf32>, tensor<1x1xf32>, tensor<f32>) {
  %e = tensor.empty() : tensor<3x4xf32>
  %a = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<3x4xf32>) dimensions = [0]
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %1 = tensor.expand_shape %c [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
  %s = arith.constant dense<0.5> : tensor<12xf32>
  %2 = tensor.expand_shape %s [[0, 1]] output_shape [4, 3] : tensor<12xf32> into tensor<4x3xf32>
  %3 = tensor.expand_shape %n [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %4 = tensor.collapse_shape %3 [] : tensor<1x1xf32> into tensor<f32>
  return %0, %1, %2, %3, %4 : tensor<12xf32>, tensor<3x2xf32>, tensor<4x3xf32>, tensor<1x1xf32>,
                              tensor<f32>
}

// in f32[4] -2.0 -1.0 0.625 -1.125
// in f32[] 1.0
// out f32[12] -2.0 -1.0 0.625 -1.125 -2.0 -1.0 0.625 -1.125 -2.0 -1.0 0.625 -1.125
// out f32[3,2] 1.0 2.0 3.0 4.0 5.0 6.0
// out f32[4,3] 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5
// out f32[1,1] 1.0
// out f32[] 1.0
