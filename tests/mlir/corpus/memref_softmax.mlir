// The second memref only comes out.
func.func @f(%a: memref<2x3xf32>, %c: memref<2x3xf32>) {
  linalg.softmax dimension(1) ins(%a : memref<2x3xf32>) outs(%c : memref<2x3xf32>)
  return
}

// in f32[2,3] -1.25 -1.25 -2.0 1.625 -0.125 -0.375
// out f32[2,3] 0.40447077 0.40447077 0.19105846 0.76387817 0.13274212 0.10337967
