// By a constant, by a number that is given; on one side, on both, on none.
func.func @f(%a: tensor<2x3xf32>, %n: f32) -> (tensor<3x6xf32>, tensor<2x4xf32>, tensor<2x3xf32>) {
  %two = arith.constant 2.0 : f32
  %0 = tensor.pad %a low[1, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %two : f32
  } : tensor<2x3xf32> to tensor<3x6xf32>
  %1 = tensor.pad %a low[0, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %n : f32
  } : tensor<2x3xf32> to tensor<2x4xf32>
  %2 = tensor.pad %a nofold low[0, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %n : f32
  } : tensor<2x3xf32> to tensor<2x3xf32>
  return %0, %1, %2 : tensor<3x6xf32>, tensor<2x4xf32>, tensor<2x3xf32>
}

// in f32[2,3] -1.125 -0.875 -1.5 -0.125 0.0 0.125
// in f32[] -0.25
// out f32[3,6] 2.0 2.0 2.0 2.0 2.0 2.0 2.0 -1.125 -0.875 -1.5 2.0 2.0 2.0 -0.125 0.0 0.125 2.0 2.0
// out f32[2,4] -1.125 -0.875 -1.5 -0.25 -0.125 0.0 0.125 -0.25
// out f32[2,3] -1.125 -0.875 -1.5 -0.125 0.0 0.125
