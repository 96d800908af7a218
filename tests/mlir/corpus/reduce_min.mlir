func.func @f(%a: tensor<2x3x4xf32>) -> tensor<3x4xf32> {
  %c = arith.constant dense<0x7F800000> : tensor<3x4xf32>
  %0 = linalg.reduce {arith.minimumf} ins(%a : tensor<2x3x4xf32>) outs(%c : tensor<3x4xf32>)
       dimensions = [0]
  return %0 : tensor<3x4xf32>
}

// in f32[2,3,4] 1.375 -1.0 -1.375 1.25 -0.875 0.375 -1.75 1.375 -2.0 1.5 0.875 1.625 0.5 1.125 0.5
//   -1.625 0.375 0.75 -2.0 -0.375 1.5 -0.25 -0.875 -1.875
// out f32[3,4] 0.5 -1.0 -1.375 -1.625 -0.875 0.375 -2.0 -0.375 -2.0 -0.25 -0.875 -1.875
