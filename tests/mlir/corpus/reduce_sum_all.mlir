func.func @f(%a: tensor<2x3xf32>, %c: tensor<f32>) -> tensor<f32> {
  %0 = linalg.reduce {arith.addf} ins(%a : tensor<2x3xf32>) outs(%c : tensor<f32>)
       dimensions = [0, 1]
  return %0 : tensor<f32>
}

// in f32[2,3] -1.625 -0.75 1.125 -2.0 -1.75 -0.25
// in f32[] -2.0
// out f32[] -7.25
