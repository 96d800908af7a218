// The numbers of the loops themselves.
func.func @f(%a: tensor<3x4xi64>) -> (tensor<3x4xi64>, tensor<3x4xi32>, tensor<3x4xf32>) {
  %d = tensor.empty() : tensor<3x4xi32>
  %g = tensor.empty() : tensor<3x4xf32>
  %0:3 = linalg.generic {indexing_maps = [affine_map<(d, e) -> (d, e)>,
                         affine_map<(d, e) -> (d, e)>, affine_map<(d, e) -> (d, e)>],
                         iterator_types = ["parallel", "parallel"]}
      outs(%a, %d, %g : tensor<3x4xi64>, tensor<3x4xi32>, tensor<3x4xf32>) {
  ^bb0(%x: i64, %y: i32, %z: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %four = arith.constant 4 : index
    %k = arith.muli %i, %four : index
    %l = arith.addi %k, %j : index
    %m = arith.index_cast %l : index to i64
    %n = arith.index_cast %j : index to i32
    %o = arith.sitofp %n : i32 to f32
    %p = arith.addi %m, %x : i64
    linalg.yield %p, %n, %o : i64, i32, f32
  } -> (tensor<3x4xi64>, tensor<3x4xi32>, tensor<3x4xf32>)
  return %0#0, %0#1, %0#2 : tensor<3x4xi64>, tensor<3x4xi32>, tensor<3x4xf32>
}

// in i64[3,4] 0 -2 -2 -7 -1 2 8 0 -5 0 -6 1
// out i64[3,4] 0 -1 0 -4 3 7 14 7 3 9 4 12
// out i32[3,4] 0 1 2 3 0 1 2 3 0 1 2 3
// out f32[3,4] 0.0 1.0 2.0 3.0 0.0 1.0 2.0 3.0 0.0 1.0 2.0 3.0
