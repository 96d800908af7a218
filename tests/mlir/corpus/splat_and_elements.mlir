func.func @f(%n: f32, %m: f32) -> (tensor<2x3xf32>, tensor<2x2xf32>, tensor<f32>) {
  %0 = tensor.splat %n : tensor<2x3xf32>
  %1 = tensor.from_elements %n, %m, %m, %n : tensor<2x2xf32>
  %2 = tensor.from_elements %m : tensor<f32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x2xf32>, tensor<f32>
}

// in f32[] -1.875
// in f32[] -0.75
// out f32[2,3] -1.875 -1.875 -1.875 -1.875 -1.875 -1.875
// out f32[2,2] -1.875 -0.75 -0.75 -1.875
// out f32[] -0.75
