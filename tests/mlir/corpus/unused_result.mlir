// What makes the result that nobody uses is not read: an argmax beside its maximum.
#a = affine_map<(m, k) -> (m, k)>
#c = affine_map<(m, k) -> (m)>
func.func @f(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  %least = arith.constant dense<0xFF800000> : tensor<2xf32>
  %none = arith.constant dense<0> : tensor<2xi64>
  %0:2 = linalg.generic {indexing_maps = [#a, #c, #c], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x3xf32>) outs(%least, %none : tensor<2xf32>, tensor<2xi64>) {
  ^bb0(%x: f32, %z: f32, %w: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %m = arith.maximumf %x, %z : f32
    %t = arith.cmpf ogt, %x, %z : f32
    %n = arith.select %t, %k, %w : i64
    linalg.yield %m, %n : f32, i64
  } -> (tensor<2xf32>, tensor<2xi64>)
  return %0#0 : tensor<2xf32>
}

// in f32[2,3] 0.875 1.25 0.5 -1.875 -0.25 2.0
// out f32[2] 1.25 2.0
