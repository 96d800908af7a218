// A function of numbers alone.
func.func @f(%a: f32, %b: f32, %n: i32, %m: i64) -> (f32, i32, i64) {
  %0 = arith.divf %a, %b : f32
  %1 = arith.muli %n, %n : i32
  %2 = arith.extsi %n : i32 to i64
  %3 = arith.subi %2, %m : i64
  return %0, %1, %3 : f32, i32, i64
}

// in f32[] -2.0
// in f32[] 0.5
// in i32[] -4
// in i64[] 3
// out f32[] -4.0
// out i32[] 16
// out i64[] -7
