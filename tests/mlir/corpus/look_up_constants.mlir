// One row of a table by a constant; a table of integers; a table that is all alike.
#which = affine_map<(s, d) -> (s)>
#each = affine_map<(s, d) -> (s, d)>
func.func @f(%table: tensor<5x4xi64>, %ids: tensor<3xi64>)
    -> (tensor<3x4xi64>, tensor<3x4xi64>, tensor<3x4xf32>) {
  %e = tensor.empty() : tensor<3x4xi64>
  %g = tensor.empty() : tensor<3x4xf32>
  %two = arith.constant 2 : index
  %alike = arith.constant dense<0.5> : tensor<5x4xf32>
  %0:3 = linalg.generic {indexing_maps = [#which, #each, #each, #each],
                         iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<3xi64>)
      outs(%e, %e, %g : tensor<3x4xi64>, tensor<3x4xi64>, tensor<3x4xf32>) {
  ^bb0(%id: i64, %z: i64, %w: i64, %v: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%two, %j] : tensor<5x4xi64>
    %y = tensor.extract %table[%i, %j] : tensor<5x4xi64>
    %u = tensor.extract %alike[%i, %j] : tensor<5x4xf32>
    linalg.yield %x, %y, %u : i64, i64, f32
  } -> (tensor<3x4xi64>, tensor<3x4xi64>, tensor<3x4xf32>)
  return %0#0, %0#1, %0#2 : tensor<3x4xi64>, tensor<3x4xi64>, tensor<3x4xf32>
}

// in i64[5,4] 7 4 6 -4 1 9 4 -3 4 -7 2 -6 -1 1 -6 -8 4 0 8 1
// in i64[3] 3 0 0
// out i64[3,4] 4 -7 2 -6 4 -7 2 -6 4 -7 2 -6
// out i64[3,4] -1 1 -6 -8 7 4 6 -4 7 4 6 -4
// out f32[3,4] 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5
