func.func @f(%a: tensor<2x1xf32>, %b: tensor<1x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<2x1xf32>, tensor<1x4xf32>)
                     outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// in f32[2,1] -0.875 -1.375
// in f32[1,4] -1.125 0.25 0.625 1.25
// in f32[2,4] -1.875 -1.25 -1.75 -2.0 -0.25 -1.875 0.75 -1.25
// out f32[2,4] -0.890625 -1.46875 -2.296875 -3.09375 1.296875 -2.21875 -0.109375 -2.96875
