func.func @f(%a: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
        tensor<4xf32>, tensor<4xf32>) {
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %three = arith.constant dense<3.0> : tensor<4xf32>
  %four = arith.constant dense<4.0> : tensor<4xf32>
  %half = arith.constant dense<0.5> : tensor<4xf32>
  %less = arith.constant dense<-0.5> : tensor<4xf32>
  %minus = arith.constant dense<-2.0> : tensor<4xf32>
  %n = arith.constant dense<-3> : tensor<4xi32>
  %0 = math.powf %a, %two : tensor<4xf32>
  %1 = math.powf %a, %three : tensor<4xf32>
  %2 = math.powf %a, %four : tensor<4xf32>
  %3 = math.powf %a, %half : tensor<4xf32>
  %4 = math.powf %a, %less : tensor<4xf32>
  %5 = math.powf %a, %minus : tensor<4xf32>
  %6 = math.fpowi %a, %n : tensor<4xf32>, tensor<4xi32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
      tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// in f32[4] 0.5 1.5 2.0 3.0
// out f32[4] 0.25 2.25 4.0 9.0
// out f32[4] 0.125 3.375 8.0 27.0
// out f32[4] 0.0625 5.0625 16.0 81.0
// out f32[4] 0.70710677 1.2247449 1.4142135 1.7320508
// out f32[4] 1.4142135 0.81649655 0.70710677 0.57735026
// out f32[4] 4.0 0.44444445 0.25 0.11111111
// out f32[4] 8.0 0.2962963 0.125 0.037037037
