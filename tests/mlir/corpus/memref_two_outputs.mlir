// Both results of one operation go into memory.
#each = affine_map<(d) -> (d)>
func.func @f(%a: memref<3xf32>, %b: memref<3xf32>, %c: memref<3xf32>) {
  linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
      ins(%a : memref<3xf32>) outs(%b, %c : memref<3xf32>, memref<3xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.negf %x : f32
    linalg.yield %s, %t : f32, f32
  }
  return
}

// in f32[3] -1.625 0.875 -1.125
// in f32[3] -0.5 0.375 -1.0
// out f32[3] -2.125 1.25 -2.125
// out f32[3] 1.625 -0.875 1.125
