memref.global "private" constant @w : memref<2x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
memref.global "private" constant @n : memref<3xi32> = dense<7>
func.func @f(%a: memref<2x3xf32>, %i: memref<3xi32>, %c: memref<2x3xf32>, %d: memref<3xi32>) {
  %w = memref.get_global @w : memref<2x3xf32>
  %n = memref.get_global @n : memref<3xi32>
  linalg.mul ins(%a, %w : memref<2x3xf32>, memref<2x3xf32>) outs(%c : memref<2x3xf32>)
  linalg.add ins(%i, %n : memref<3xi32>, memref<3xi32>) outs(%d : memref<3xi32>)
  return
}

// in f32[2,3] 1.875 0.875 1.0 0.125 -1.125 -1.375
// in i32[3] -5 -3 1
// out f32[2,3] 1.875 1.75 3.0 0.5 -5.625 -8.25
// out i32[3] 2 4 8
