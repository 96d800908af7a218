// Each becomes a body of one op.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
        tensor<2x3xf32>) {
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.add ins(%a, %b : tensor<2x3xf32>, tensor<2x3xf32>)
       outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = linalg.sub ins(%a, %b : tensor<2x3xf32>, tensor<2x3xf32>)
       outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = linalg.mul ins(%a, %b : tensor<2x3xf32>, tensor<2x3xf32>)
       outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = linalg.div ins(%a, %b : tensor<2x3xf32>, tensor<2x3xf32>)
       outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = linalg.max ins(%a, %b : tensor<2x3xf32>, tensor<2x3xf32>)
       outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = linalg.min ins(%a, %b : tensor<2x3xf32>, tensor<2x3xf32>)
       outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
                                  tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// in f32[2,3] 1.375 0.625 1.75 -1.5 0.125 1.75
// in f32[2,3] 1.375 0.125 0.375 1.125 0.625 1.125
// out f32[2,3] 2.75 0.75 2.125 -0.375 0.75 2.875
// out f32[2,3] 0.0 0.5 1.375 -2.625 -0.5 0.625
// out f32[2,3] 1.890625 0.078125 0.65625 -1.6875 0.078125 1.96875
// out f32[2,3] 1.0 5.0 4.6666665 -1.3333334 0.2 1.5555556
// out f32[2,3] 1.375 0.625 1.75 1.125 0.625 1.75
// out f32[2,3] 1.375 0.125 0.375 -1.5 0.125 1.125
