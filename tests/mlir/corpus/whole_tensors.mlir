// arith on tensors, without loops; and with a number that is as wide.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %two = arith.constant dense<2.0> : tensor<2x3xf32>
  %0 = arith.mulf %a, %two : tensor<2x3xf32>
  %1 = arith.subf %two, %b : tensor<2x3xf32>
  %2 = arith.cmpf olt, %0, %1 : tensor<2x3xf32>
  %3 = arith.select %2, %0, %1 : tensor<2x3xi1>, tensor<2x3xf32>
  %4 = math.tanh %3 : tensor<2x3xf32>
  return %4 : tensor<2x3xf32>
}

// in f32[2,3] 0.625 1.375 -0.875 0.5 -0.625 -1.5
// in f32[2,3] -0.375 -1.5 -1.375 1.75 -0.875 -1.375
// out f32[2,3] 0.84828365 0.99185973 -0.9413755 0.24491866 -0.84828365 -0.9950548
