func.func @f(%a: tensor<2x3xf32>) -> tensor<f32> {
  %c = arith.constant dense<0xFF800000> : tensor<f32>
  %0 = linalg.reduce {arith.maximumf} ins(%a : tensor<2x3xf32>) outs(%c : tensor<f32>)
       dimensions = [0, 1]
  return %0 : tensor<f32>
}

// in f32[2,3] -0.875 2.0 1.25 0.5 -1.625 -1.125
// out f32[] 2.0
