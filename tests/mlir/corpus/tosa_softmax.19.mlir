// Divided by a reciprocal, as converters write it.
func.func @f(%a: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %0 = tosa.reduce_max %a {axis = 1 : i32} : (tensor<2x5xf32>) -> tensor<2x1xf32>
  %1 = tosa.sub %a, %0 : (tensor<2x5xf32>, tensor<2x1xf32>) -> tensor<2x5xf32>
  %2 = tosa.exp %1 : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %3 = tosa.reduce_sum %2 {axis = 1 : i32} : (tensor<2x5xf32>) -> tensor<2x1xf32>
  %4 = tosa.reciprocal %3 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %5 = tosa.mul %2, %4 {shift = 0 : i8} : (tensor<2x5xf32>, tensor<2x1xf32>) -> tensor<2x5xf32>
  return %5 : tensor<2x5xf32>
}

// in f32[2,5] 1.5 -0.75 1.375 -0.625 0.875 -0.875 1.125 -1.375 0.75 -0.75
// out f32[2,5] 0.37841657 0.03988481 0.33395144 0.045195416 0.20255177 0.06575853 0.48589343
//   0.039884564 0.33394936 0.07451417
