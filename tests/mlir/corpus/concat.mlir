func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>, %c: tensor<2x3xf32>, %n: f32)
    -> (tensor<2x7xf32>, tensor<5x3xf32>) {
  %0 = tensor.concat dim(1) %a, %b, %c
     : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
  %r = tensor.splat %n : tensor<1x3xf32>
  %1 = tensor.concat dim(0) %c, %r, %a
     : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  return %0, %1 : tensor<2x7xf32>, tensor<5x3xf32>
}

// in f32[2,3] 0.25 0.125 0.125 -1.125 -0.875 -1.625
// in f32[2,1] 1.875 -0.625
// in f32[2,3] -0.75 1.625 -0.875 -0.25 1.125 2.0
// in f32[] 0.125
// out f32[2,7] 0.25 0.125 0.125 1.875 -0.75 1.625 -0.875 -1.125 -0.875 -1.625 -0.625 -0.25 1.125
//   2.0
// out f32[5,3] -0.75 1.625 -0.875 -0.25 1.125 2.0 0.125 0.125 0.125 0.25 0.125 0.125 -1.125 -0.875
//   -1.625
