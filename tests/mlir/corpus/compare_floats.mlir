// Every predicate, as a number of the sum of 2^predicate.
#each = affine_map<(d) -> (d)>
func.func @f(%a: tensor<6xf32>, %b: tensor<6xf32>) -> tensor<6xi32> {
  %e = tensor.empty() : tensor<6xi32>
  %0 = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<6xf32>, tensor<6xf32>) outs(%e : tensor<6xi32>) {
  ^bb0(%x: f32, %y: f32, %z: i32):
    %two = arith.constant 2 : i32
    %oeq = arith.cmpf oeq, %x, %y : f32
    %ogt = arith.cmpf ogt, %x, %y : f32
    %oge = arith.cmpf oge, %x, %y : f32
    %olt = arith.cmpf olt, %x, %y : f32
    %ole = arith.cmpf ole, %x, %y : f32
    %one = arith.cmpf one, %x, %y : f32
    %ord = arith.cmpf ord, %x, %y : f32
    %ueq = arith.cmpf ueq, %x, %y : f32
    %ugt = arith.cmpf ugt, %x, %y : f32
    %uge = arith.cmpf uge, %x, %y : f32
    %ult = arith.cmpf ult, %x, %y : f32
    %ule = arith.cmpf ule, %x, %y : f32
    %une = arith.cmpf une, %x, %y : f32
    %uno = arith.cmpf uno, %x, %y : f32
    %b1 = arith.extui %oeq : i1 to i32
    %b2 = arith.extui %ogt : i1 to i32
    %b3 = arith.extui %oge : i1 to i32
    %b4 = arith.extui %olt : i1 to i32
    %b5 = arith.extui %ole : i1 to i32
    %b6 = arith.extui %one : i1 to i32
    %b7 = arith.extui %ord : i1 to i32
    %b8 = arith.extui %ueq : i1 to i32
    %b9 = arith.extui %ugt : i1 to i32
    %b10 = arith.extui %uge : i1 to i32
    %b11 = arith.extui %ult : i1 to i32
    %b12 = arith.extui %ule : i1 to i32
    %b13 = arith.extui %une : i1 to i32
    %b14 = arith.extui %uno : i1 to i32
    %m13 = arith.muli %b14, %two : i32
    %s13 = arith.addi %m13, %b13 : i32
    %m12 = arith.muli %s13, %two : i32
    %s12 = arith.addi %m12, %b12 : i32
    %m11 = arith.muli %s12, %two : i32
    %s11 = arith.addi %m11, %b11 : i32
    %m10 = arith.muli %s11, %two : i32
    %s10 = arith.addi %m10, %b10 : i32
    %m9 = arith.muli %s10, %two : i32
    %s9 = arith.addi %m9, %b9 : i32
    %m8 = arith.muli %s9, %two : i32
    %s8 = arith.addi %m8, %b8 : i32
    %m7 = arith.muli %s8, %two : i32
    %s7 = arith.addi %m7, %b7 : i32
    %m6 = arith.muli %s7, %two : i32
    %s6 = arith.addi %m6, %b6 : i32
    %m5 = arith.muli %s6, %two : i32
    %s5 = arith.addi %m5, %b5 : i32
    %m4 = arith.muli %s5, %two : i32
    %s4 = arith.addi %m4, %b4 : i32
    %m3 = arith.muli %s4, %two : i32
    %s3 = arith.addi %m3, %b3 : i32
    %m2 = arith.muli %s3, %two : i32
    %s2 = arith.addi %m2, %b2 : i32
    %m1 = arith.muli %s2, %two : i32
    %s1 = arith.addi %m1, %b1 : i32
    linalg.yield %s1 : i32
  } -> tensor<6xi32>
  return %0 : tensor<6xi32>
}

// in f32[6] 1.0 2.0 1.0 nan 1.0 nan
// in f32[6] 1.0 1.0 2.0 1.0 nan nan
// out i32[6] 2773 4966 7288 16256 16256 16256
