func.func @f(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.add %a, %b : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %1 = tosa.mul %a, %b, %shift
     : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
  %2 = tosa.sigmoid %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = tosa.clamp %a {min_val = -1.0 : f32, max_val = 1.0 : f32}
     : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// in f32[2,3] -1.375 1.5 -0.875 1.375 -1.625 0.625
// in f32[1,3] -1.0 -0.625 1.125
// out f32[2,3] -2.375 0.875 0.25 0.375 -2.25 1.75
// out f32[2,3] 1.375 -0.9375 -0.984375 -1.375 1.015625 0.703125
// out f32[2,3] 0.20181322 0.8175745 0.29421496 0.7981868 0.16451646 0.6513549
// out f32[2,3] -1.0 1.0 -0.875 1.0 -1.0 0.625
