// A NaN stays one; so does one that was there before.
func.func @f(%a: tensor<2x3xf32>, %c: tensor<2xf32>) -> tensor<2xf32> {
  %0 = linalg.reduce {arith.minimumf} ins(%a : tensor<2x3xf32>) outs(%c : tensor<2xf32>)
       dimensions = [1]
  return %0 : tensor<2xf32>
}

// in f32[2,3] 1.0 nan 2.0 3.0 -4.0 inf
// in f32[2] 0.0 5.0
// out f32[2] nan -4.0
