// Single elements, by one index, and by two.
#each = affine_map<(d) -> (d)>
func.func @f(%line: tensor<5xf32>, %table: tensor<3x4xf32>, %i: tensor<6xi64>, %j: tensor<6xi64>)
    -> (tensor<6xf32>, tensor<6xf32>) {
  %e = tensor.empty() : tensor<6xf32>
  %0:2 = linalg.generic {indexing_maps = [#each, #each, #each, #each],
                         iterator_types = ["parallel"]}
      ins(%i, %j : tensor<6xi64>, tensor<6xi64>) outs(%e, %e : tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%a: i64, %b: i64, %z: f32, %w: f32):
    %c = arith.index_cast %a : i64 to index
    %d = arith.index_cast %b : i64 to index
    %x = tensor.extract %line[%c] : tensor<5xf32>
    %y = tensor.extract %table[%c, %d] : tensor<3x4xf32>
    linalg.yield %x, %y : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
  return %0#0, %0#1 : tensor<6xf32>, tensor<6xf32>
}

// in f32[5] -0.125 0.375 1.75 -0.25 -0.875
// in f32[3,4] 0.125 2.0 -1.625 1.625 -1.75 -1.625 -0.625 1.625 1.5 -1.125 -0.875 -1.625
// in i64[6] 1 0 2 1 2 1
// in i64[6] 2 3 1 1 0 0
// out f32[6] 0.375 -0.125 1.75 0.375 1.75 0.375
// out f32[6] -0.625 1.625 -1.125 -1.625 1.5 -1.75
