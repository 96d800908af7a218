// A table in memory, which is written before it is read.
#each = affine_map<(d) -> (d)>
func.func @f(%t: memref<4xf32>, %i: memref<3xi64>, %c: memref<3xf32>) {
  linalg.exp ins(%t : memref<4xf32>) outs(%t : memref<4xf32>)
  linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%i : memref<3xi64>) outs(%c : memref<3xf32>) {
  ^bb0(%x: i64, %z: f32):
    %j = arith.index_cast %x : i64 to index
    %s = memref.load %t[%j] : memref<4xf32>
    linalg.yield %s : f32
  }
  return
}

// in f32[4] -0.625 1.875 -1.25 0.75
// in i64[3] 1 2 3
// out f32[4] 0.5352614 6.5208187 0.28650478 2.117
// out f32[3] 6.5208187 0.28650478 2.117
