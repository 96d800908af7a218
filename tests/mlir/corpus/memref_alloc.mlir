func.func @f(%a: memref<2x3xf32>, %c: memref<2x3xf32>) {
  %t = memref.alloc() : memref<2x3xf32>
  %s = memref.alloca() : memref<2x3xf32>
  linalg.exp ins(%a : memref<2x3xf32>) outs(%t : memref<2x3xf32>)
  linalg.add ins(%t, %a : memref<2x3xf32>, memref<2x3xf32>) outs(%s : memref<2x3xf32>)
  memref.copy %s, %c : memref<2x3xf32> to memref<2x3xf32>
  memref.dealloc %t : memref<2x3xf32>
  return
}

// in f32[2,3] -1.125 1.375 -2.0 -0.625 1.875 -1.125
// out f32[2,3] -0.80034757 5.3300767 -1.8646647 -0.08973861 8.395819 -0.80034757
