func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %i: tensor<4xi32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %0 = math.fma %a, %b, %c : tensor<4xf32>
  %1 = math.absf %a : tensor<4xf32>
  %2 = arith.negf %a : tensor<4xf32>
  %3 = math.absi %i : tensor<4xi32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

// in f32[4] 1.875 1.0 -1.5 -0.875
// in f32[4] -2.0 -0.125 1.25 1.375
// in f32[4] 2.0 0.125 0.75 -1.25
// in i32[4] -1 6 9 4
// out f32[4] -1.75 0.0 -1.125 -2.453125
// out f32[4] 1.875 1.0 1.5 0.875
// out f32[4] -1.875 -1.0 1.5 0.875
// out i32[4] 1 6 9 4
