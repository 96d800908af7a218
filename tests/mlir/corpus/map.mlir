func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.map {arith.divf} ins(%a, %b : tensor<2x3xf32>, tensor<2x3xf32>)
       outs(%e : tensor<2x3xf32>)
  return %0 : tensor<2x3xf32>
}

// in f32[2,3] 0.375 0.625 -2.0 -0.375 0.375 -0.5
// in f32[2,3] 1.625 0.875 1.375 1.5 1.875 0.125
// out f32[2,3] 0.23076923 0.71428573 -1.4545455 -0.25 0.2 -4.0
