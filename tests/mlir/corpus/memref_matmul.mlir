// Adds to the third argument, which goes in and comes out.
func.func @f(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: memref<2x4xf32>) {
  linalg.matmul ins(%a, %b : memref<2x3xf32>, memref<3x4xf32>) outs(%c : memref<2x4xf32>)
  return
}

// in f32[2,3] -0.625 1.75 0.5 0.875 0.0 -0.5
// in f32[3,4] -0.875 1.375 0.75 -0.625 1.125 -1.75 -1.5 -2.0 1.75 1.375 -1.5 -1.0
// in f32[2,4] -0.625 0.375 -1.5 0.0 -0.75 -1.25 -1.75 1.25
// out f32[2,4] 2.765625 -2.859375 -5.34375 -3.609375 -2.390625 -0.734375 -0.34375 1.203125
