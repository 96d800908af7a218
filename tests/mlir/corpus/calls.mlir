// Functions that others call are put in where they are called.
func.func private @twice(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = arith.addf %a, %a : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func private @relu(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x3xf32>
  %0 = arith.maximumf %a, %zero : tensor<2x3xf32>
  %1 = call @twice(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
func.func @f(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = call @relu(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = call @relu(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// in f32[2,3] 0.125 1.25 -0.125 -1.375 0.375 0.0
// out f32[2,3] 0.25 2.5 0.0 0.0 0.75 0.0
// out f32[2,3] 0.5 5.0 0.0 0.0 1.5 0.0
