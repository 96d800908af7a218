func.func @f(%a: tensor<5xi32>, %b: tensor<5xi32>, %c: tensor<i32>) -> tensor<i32> {
  %0 = linalg.dot ins(%a, %b : tensor<5xi32>, tensor<5xi32>) outs(%c : tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// in i32[5] 0 8 4 0 -9
// in i32[5] -6 -1 -2 -5 -1
// in i32[] 3
// out i32[] -4
