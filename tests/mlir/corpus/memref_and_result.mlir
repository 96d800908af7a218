// A result comes in front of the memrefs.
func.func @f(%a: memref<3xf32>, %t: tensor<3xf32>, %b: memref<3xf32>) -> tensor<3xf32> {
  linalg.exp ins(%a : memref<3xf32>) outs(%b : memref<3xf32>)
  %0 = arith.negf %t : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// in f32[3] 1.625 -0.625 1.875
// in f32[3] -1.0 1.375 -1.125
// out f32[3] 1.0 -1.375 1.125
// out f32[3] 5.078419 0.5352614 6.5208187
