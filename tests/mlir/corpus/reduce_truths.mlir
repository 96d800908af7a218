// Any and all.
#a = affine_map<(m, k) -> (m, k)>
#c = affine_map<(m, k) -> (m)>
func.func @f(%a: tensor<3x4xf32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %zero = arith.constant 0.0 : f32
  %no = arith.constant dense<false> : tensor<3xi1>
  %yes = arith.constant dense<true> : tensor<3xi1>
  %0:2 = linalg.generic {indexing_maps = [#a, #c, #c], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<3x4xf32>) outs(%no, %yes : tensor<3xi1>, tensor<3xi1>) {
  ^bb0(%x: f32, %z: i1, %w: i1):
    %t = arith.cmpf ogt, %x, %zero : f32
    %any = arith.ori %t, %z : i1
    %all = arith.andi %t, %w : i1
    linalg.yield %any, %all : i1, i1
  } -> (tensor<3xi1>, tensor<3xi1>)
  %1 = arith.extui %0#0 : tensor<3xi1> to tensor<3xi32>
  %2 = arith.extui %0#1 : tensor<3xi1> to tensor<3xi32>
  return %1, %2 : tensor<3xi32>, tensor<3xi32>
}

// in f32[3,4] -1.0 0.0 -2.0 -3.0 1.0 2.0 3.0 4.0 1.0 -1.0 2.0 0.0
// out i32[3] 0 1 1
// out i32[3] 0 1 0
