// A bag of words: rows are looked up and summed up.
#which = affine_map<(d, s) -> (s)>
#sum = affine_map<(d, s) -> (d)>
func.func @f(%table: tensor<5x4xf32>, %ids: tensor<3xi64>) -> tensor<4xf32> {
  %c = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#which, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%ids : tensor<3xi64>) outs(%c : tensor<4xf32>) {
  ^bb0(%id: i64, %z: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 0 : index
    %x = tensor.extract %table[%i, %j] : tensor<5x4xf32>
    %s = arith.addf %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// in f32[5,4] 1.0 -2.0 1.5 -0.625 1.25 -0.75 0.5 0.875 -0.25 1.375 0.125 -1.375 1.75 1.0 0.5 1.875
//   -1.375 2.0 -0.125 0.5
// in i64[3] 3 2 0
// out f32[4] 2.5 0.375 2.125 -0.125
