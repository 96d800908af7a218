func.func @f(%a: tensor<2x3x4xf32>, %c: tensor<2xf32>) -> tensor<2xf32> {
  %0 = linalg.reduce {arith.maximumf} ins(%a : tensor<2x3x4xf32>) outs(%c : tensor<2xf32>)
       dimensions = [1, 2]
  return %0 : tensor<2xf32>
}

// in f32[2,3,4] 0.125 -1.75 1.25 0.625 -0.125 1.25 0.75 -0.375 -0.875 0.0 2.0 -0.625 0.625 0.125
//   -1.125 0.875 -2.0 -2.0 0.0 -1.25 -1.875 -1.875 -1.625 1.5
// in f32[2] 1.5 9.0
// out f32[2] 2.0 9.0
