func.func @f(%a: memref<f32>, %b: memref<1xf32>, %c: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> (0)>,
                                   affine_map<() -> ()>], iterator_types = []}
      ins(%a, %b : memref<f32>, memref<1xf32>) outs(%c : memref<f32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  }
  return
}

// in f32[] -0.5
// in f32[1] -1.5
// out f32[] 1.0
