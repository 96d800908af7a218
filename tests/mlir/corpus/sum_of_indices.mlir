// Sums over numbers of loops.
#a = affine_map<(m, k) -> (m, k)>
#c = affine_map<(m, k) -> (m)>
func.func @f(%a: tensor<2x4xf32>, %c: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xf32>) {
  %d = arith.constant dense<0.0> : tensor<2xf32>
  %0:2 = linalg.generic {indexing_maps = [#a, #c, #c], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x4xf32>) outs(%c, %d : tensor<2xi64>, tensor<2xf32>) {
  ^bb0(%x: f32, %z: i64, %w: f32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %s = arith.addi %k, %z : i64
    %g = arith.sitofp %k : i64 to f32
    %p = arith.mulf %g, %x : f32
    %t = arith.addf %w, %p : f32
    linalg.yield %s, %t : i64, f32
  } -> (tensor<2xi64>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2xi64>, tensor<2xf32>
}

// in f32[2,4] -0.25 0.375 -0.5 -1.75 -1.375 0.125 1.625 -1.25
// in i64[2] -1 7
// out i64[2] 5 13
// out f32[2] -5.875 -0.375
