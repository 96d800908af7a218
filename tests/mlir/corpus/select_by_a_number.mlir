// The condition is a number, the choices are tensors.
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %n: f32) -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ogt, %n, %zero : f32
  %1 = arith.select %0, %a, %b : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// in f32[2,3] -0.875 1.625 -1.125 -0.75 0.5 0.625
// in f32[2,3] -0.75 -0.25 -0.25 -1.625 0.75 -0.25
// in f32[] -1.0
// out f32[2,3] -0.75 -0.25 -0.25 -1.625 0.75 -0.25
