func.func @f(%a: tensor<2x3x4xf32>, %c: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.reduce {arith.addf} ins(%a : tensor<2x3x4xf32>) outs(%c : tensor<3xf32>)
       dimensions = [0, 2]
  return %0 : tensor<3xf32>
}

// in f32[2,3,4] -1.375 1.625 -2.0 -0.625 0.875 -0.875 1.375 -0.625 1.375 0.625 -0.125 -0.375 1.375
//   -1.75 -1.625 -1.0 0.0 -1.375 -0.25 1.875 1.0 1.5 -0.875 0.0
// in f32[3] 1.875 0.5 -1.25
// out f32[3] -3.5 1.5 1.875
