// A dim of extent 1 is summed up.
func.func @f(%a: tensor<2x1x3xf32>, %c: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = linalg.reduce {arith.addf} ins(%a : tensor<2x1x3xf32>) outs(%c : tensor<2x3xf32>)
       dimensions = [1]
  %1 = linalg.reduce {arith.maximumf} ins(%a : tensor<2x1x3xf32>) outs(%c : tensor<2x3xf32>)
       dimensions = [1]
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// in f32[2,1,3] -0.875 -1.75 1.625 1.5 0.5 -1.625
// in f32[2,3] -1.25 0.5 0.5 -0.875 0.0 -0.625
// out f32[2,3] -2.125 -1.25 2.125 0.625 0.5 -2.25
// out f32[2,3] -0.875 0.5 1.625 1.5 0.5 -0.625
