// maximumf keeps a NaN, maxnumf keeps the number.
func.func @f(%a: tensor<6xf32>, %b: tensor<6xf32>)
    -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %0 = arith.maximumf %a, %b : tensor<6xf32>
  %1 = arith.minimumf %a, %b : tensor<6xf32>
  %2 = arith.maxnumf %a, %b : tensor<6xf32>
  %3 = arith.minnumf %a, %b : tensor<6xf32>
  return %0, %1, %2, %3 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}

// in f32[6] 1.0 nan 2.0 nan -inf inf
// in f32[6] 2.0 1.0 nan nan 0.0 nan
// out f32[6] 2.0 nan nan nan 0.0 nan
// out f32[6] 1.0 nan nan nan -inf nan
// out f32[6] 2.0 1.0 2.0 nan 0.0 inf
// out f32[6] 1.0 1.0 2.0 nan -inf inf
