// One memref is read and written by the same operation; and it is written twice.
func.func @f(%a: memref<3xf32>, %b: memref<3xf32>) {
  linalg.add ins(%a, %b : memref<3xf32>, memref<3xf32>) outs(%a : memref<3xf32>)
  linalg.mul ins(%a, %a : memref<3xf32>, memref<3xf32>) outs(%b : memref<3xf32>)
  linalg.sub ins(%b, %a : memref<3xf32>, memref<3xf32>) outs(%a : memref<3xf32>)
  return
}

// in f32[3] 1.375 -1.5 -0.75
// in f32[3] -1.25 1.875 -0.875
// out f32[3] -0.109375 -0.234375 4.265625
// out f32[3] 0.015625 0.140625 2.640625
