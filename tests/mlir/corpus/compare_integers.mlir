#each = affine_map<(d) -> (d)>
func.func @f(%a: tensor<5xi64>, %b: tensor<5xi64>) -> tensor<5xi32> {
  %e = tensor.empty() : tensor<5xi32>
  %0 = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<5xi64>, tensor<5xi64>) outs(%e : tensor<5xi32>) {
  ^bb0(%x: i64, %y: i64, %z: i32):
    %two = arith.constant 2 : i32
    %eq = arith.cmpi eq, %x, %y : i64
    %ne = arith.cmpi ne, %x, %y : i64
    %slt = arith.cmpi slt, %x, %y : i64
    %sle = arith.cmpi sle, %x, %y : i64
    %sgt = arith.cmpi sgt, %x, %y : i64
    %sge = arith.cmpi sge, %x, %y : i64
    %b0 = arith.extui %eq : i1 to i32
    %b1 = arith.extui %ne : i1 to i32
    %b2 = arith.extui %slt : i1 to i32
    %b3 = arith.extui %sle : i1 to i32
    %b4 = arith.extui %sgt : i1 to i32
    %b5 = arith.extui %sge : i1 to i32
    %m4 = arith.muli %b5, %two : i32
    %s4 = arith.addi %m4, %b4 : i32
    %m3 = arith.muli %s4, %two : i32
    %s3 = arith.addi %m3, %b3 : i32
    %m2 = arith.muli %s3, %two : i32
    %s2 = arith.addi %m2, %b2 : i32
    %m1 = arith.muli %s2, %two : i32
    %s1 = arith.addi %m1, %b1 : i32
    %m0 = arith.muli %s1, %two : i32
    %s0 = arith.addi %m0, %b0 : i32
    linalg.yield %s0 : i32
  } -> tensor<5xi32>
  return %0 : tensor<5xi32>
}

// in i64[5] 1 2 -1 1099511627776 -9223372036854775808
// in i64[5] 1 1 2 1099511627777 9223372036854775807
// out i32[5] 41 50 14 14 14
