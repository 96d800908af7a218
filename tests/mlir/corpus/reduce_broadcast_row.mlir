// A row for each of three rows, summed up along either dim.
func.func @f(%r: tensor<4xf32>) -> (tensor<4xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3x4xf32>
  %a = linalg.broadcast ins(%r : tensor<4xf32>) outs(%e : tensor<3x4xf32>) dimensions = [0]
  %c = arith.constant dense<0.0> : tensor<4xf32>
  %d = arith.constant dense<0.0> : tensor<3xf32>
  %0 = linalg.reduce {arith.addf} ins(%a : tensor<3x4xf32>) outs(%c : tensor<4xf32>)
       dimensions = [0]
  %1 = linalg.reduce {arith.addf} ins(%a : tensor<3x4xf32>) outs(%d : tensor<3xf32>)
       dimensions = [1]
  return %0, %1 : tensor<4xf32>, tensor<3xf32>
}

// in f32[4] 1.125 -1.0 -1.875 -1.25
// out f32[4] 3.375 -3.0 -5.625 -3.75
// out f32[3] -3.0 -3.0 -3.0
