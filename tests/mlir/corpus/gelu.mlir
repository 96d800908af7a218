#each = affine_map<(d) -> (d)>
func.func @f(%a: tensor<5xf32>) -> tensor<5xf32> {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %root = arith.constant 1.41421354 : f32
  %e = tensor.empty() : tensor<5xf32>
  %0 = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%a : tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%x: f32, %z: f32):
    %d = arith.divf %x, %root : f32
    %p = math.erf %d : f32
    %s = arith.addf %p, %one : f32
    %h = arith.mulf %s, %half : f32
    %g = arith.mulf %x, %h : f32
    linalg.yield %g : f32
  } -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// in f32[5] -1.75 -0.75 -0.5 -0.375 0.5
// out f32[5] -0.07010351 -0.16997051 -0.15426877 -0.13268633 0.34573123
