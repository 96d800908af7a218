// The third argument only comes out.
func.func @f(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: memref<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<2x4xf32>)
  linalg.matmul ins(%a, %b : memref<2x3xf32>, memref<3x4xf32>) outs(%c : memref<2x4xf32>)
  return
}

// in f32[2,3] 2.0 0.625 -0.375 -1.75 0.0 0.25
// in f32[3,4] -0.5 1.25 0.0 1.375 -1.625 1.25 -1.875 -0.375 1.125 0.375 -1.5 1.5
// out f32[2,4] -2.4375 3.140625 -0.609375 1.953125 1.15625 -2.09375 -0.375 -2.03125
