// What is there before is alike along a dim.
func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %c = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<2x4xf32>) dimensions = [0]
  %0 = linalg.reduce {arith.addf} ins(%a : tensor<2x3x4xf32>) outs(%c : tensor<2x4xf32>)
       dimensions = [1]
  return %0 : tensor<2x4xf32>
}

// in f32[2,3,4] -0.375 0.375 0.5 0.375 0.0 -0.25 -1.0 -0.625 -1.25 1.875 2.0 -0.125 -0.625 1.375
//   1.125 0.375 0.125 -1.25 0.125 -0.5 -0.125 0.5 -0.75 0.0
// in f32[4] 1.0 -0.375 -0.375 0.0
// out f32[2,4] -0.625 1.625 1.125 -0.375 0.375 0.25 0.125 -0.125
