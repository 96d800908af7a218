func.func @f(%a: tensor<2x3x4xf32>) -> tensor<2x4xf32> {
  %c = arith.constant dense<0.0> : tensor<2x4xf32>
  %0 = linalg.reduce ins(%a : tensor<2x3x4xf32>) outs(%c : tensor<2x4xf32>) dimensions = [1]
    (%x: f32, %z: f32) {
      %s = arith.addf %x, %z : f32
      linalg.yield %s : f32
    }
  return %0 : tensor<2x4xf32>
}

// in f32[2,3,4] 1.5 0.625 1.5 1.875 -1.375 1.0 -1.5 0.375 -0.625 0.125 1.125 0.0 1.375 -1.625
//   -1.75 -1.125 -1.5 -1.875 -1.625 -1.75 -1.75 -0.125 -2.0 1.625
// out f32[2,4] -0.5 1.75 1.125 2.25 -1.875 -3.625 -5.375 -1.25
