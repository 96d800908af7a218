// The copy has what was there before.
func.func @f(%a: memref<3xf32>, %b: memref<3xf32>) {
  %n = arith.constant 2.0 : f32
  memref.copy %a, %b : memref<3xf32> to memref<3xf32>
  linalg.fill ins(%n : f32) outs(%a : memref<3xf32>)
  return
}

// in f32[3] -0.125 1.875 -0.25
// out f32[3] 2.0 2.0 2.0
// out f32[3] -0.125 1.875 -0.25
