// Every extent is 1.
func.func @f(%a: tensor<1x1xf32>, %b: tensor<1x1xf32>, %c: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<1x1xf32>, tensor<1x1xf32>)
                     outs(%c : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// in f32[1,1] -1.25
// in f32[1,1] 0.5
// in f32[1,1] 0.75
// out f32[1,1] 0.125
