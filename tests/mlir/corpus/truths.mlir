// i1 between operations: and, or, exclusive or, not, equal.
func.func @f(%a: tensor<4xi32>, %b: tensor<4xi32>)
    -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>,
        tensor<4xi32>) {
  %zero = arith.constant dense<0> : tensor<4xi32>
  %yes = arith.constant dense<true> : tensor<4xi1>
  %mixed = arith.constant dense<[true, false, true, false]> : tensor<4xi1>
  %p = arith.cmpi ne, %a, %zero : tensor<4xi32>
  %q = arith.cmpi ne, %b, %zero : tensor<4xi32>
  %and = arith.andi %p, %q : tensor<4xi1>
  %or = arith.ori %p, %q : tensor<4xi1>
  %xor = arith.xori %p, %q : tensor<4xi1>
  %not = arith.xori %p, %yes : tensor<4xi1>
  %eq = arith.cmpi eq, %p, %q : tensor<4xi1>
  %mix = arith.xori %p, %mixed : tensor<4xi1>
  %0 = arith.extui %and : tensor<4xi1> to tensor<4xi32>
  %1 = arith.extui %or : tensor<4xi1> to tensor<4xi32>
  %2 = arith.extui %xor : tensor<4xi1> to tensor<4xi32>
  %3 = arith.extui %not : tensor<4xi1> to tensor<4xi32>
  %4 = arith.extui %eq : tensor<4xi1> to tensor<4xi32>
  %5 = arith.extsi %mix : tensor<4xi1> to tensor<4xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>,
                                  tensor<4xi32>, tensor<4xi32>
}

// in i32[4] 0 5 0 -3
// in i32[4] 0 0 7 1
// out i32[4] 0 0 0 1
// out i32[4] 0 1 1 1
// out i32[4] 0 1 1 0
// out i32[4] 1 0 1 0
// out i32[4] 1 0 0 1
// out i32[4] -1 -1 -1 -1
