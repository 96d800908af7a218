// What is not read, and what is said about it: code, place, and every reason.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "ringkernel/mlir.hpp"
#include "support/skip.hpp"

namespace ringkernel::mlir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class MlirRefusals : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_library()) RK_SKIP_WITHOUT("mlir", "none is found");
  }
  /// The error of a text that is called "f.mlir".
  Error refused(const std::string& text, const std::string& function = {}) {
    told_.clear();
    const auto graph = read(text, {.name = "f.mlir", .function = function, .diagnostics = &told_});
    EXPECT_FALSE(graph.has_value()) << text;
    return graph ? Error(Errc::ok, "") : graph.error();
  }
  /// Of a function with this argument and result, with these lines behind its first one.
  Error refused_body(const std::string& type, const std::string& lines) {
    return refused("func.func @f(%a: " + type + ") -> " + type + " {\n" + lines + "}\n");
  }

  Diagnostics told_;
};

TEST_F(MlirRefusals, BrokenTextHasMlirsWordsAndTheirPlace) {
  const Error error = refused("func.func @f(%a: f32) -> f32 {\n  return %b : f32\n}\n");
  EXPECT_EQ(error.code, Errc::invalid_argument);
  EXPECT_THAT(error.detail, StartsWith("f.mlir:2:10: use of undeclared SSA value name"));
  EXPECT_THAT(error.detail, HasSubstr("(MLIR "));
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0].severity, Severity::error);
  EXPECT_EQ(told_[0].at.file, "f.mlir");
  EXPECT_EQ(told_[0].at.line, 2u);
  EXPECT_EQ(told_[0].at.column, 10u);
}

TEST_F(MlirRefusals, NotesGoWithTheirError) {
  const Error error = refused(
      "func.func @f(%a: f32) -> f32 {\n  return %a : f32\n}\n"
      "func.func @f(%a: f32) -> f32 {\n  return %a : f32\n}\n");
  EXPECT_EQ(error.code, Errc::invalid_argument);
  EXPECT_THAT(error.detail, AllOf(HasSubstr("f.mlir:4:1: redefinition of symbol named 'f'"),
                                  HasSubstr("; f.mlir:1:1: see existing symbol definition here")));
  ASSERT_EQ(told_.size(), 1u);
  ASSERT_FALSE(told_[0].notes.empty());
  EXPECT_EQ(told_[0].notes.back().severity, Severity::note);
  EXPECT_EQ(told_[0].notes.back().at.line, 1u);
}

TEST_F(MlirRefusals, WhatMlirVerifiesIsNamedToo) {
  const Error error = refused_body("tensor<2xf32>", "  return\n");
  EXPECT_EQ(error.code, Errc::invalid_argument);
  EXPECT_THAT(error.detail, StartsWith("f.mlir:2:3: "));
}

TEST_F(MlirRefusals, NoText) {
  EXPECT_EQ(refused("").code, Errc::invalid_argument);
  EXPECT_EQ(refused("no module at all").code, Errc::invalid_argument);
  EXPECT_EQ(refused(std::string("ML\xEFR\0\1\2", 7)).code, Errc::invalid_argument);
}

TEST_F(MlirRefusals, EveryOpThatIsNotReadIsListed) {
  const Error error = refused(R"(func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.sin %a : tensor<4xf32>
  %1 = math.cos %a : tensor<4xf32>
  %2 = arith.addf %0, %1 : tensor<4xf32>
  %3 = arith.remf %2, %a : tensor<4xf32>
  %4 = arith.divui %i, %i : tensor<4xi32>
  return %3 : tensor<4xf32>
})");
  EXPECT_EQ(error.code, Errc::invalid_argument);  // %i is nowhere
  const Error unread = refused(R"(func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.sin %a : tensor<4xf32>
  %1 = math.cos %a : tensor<4xf32>
  %2 = arith.addf %0, %1 : tensor<4xf32>
  %3 = math.tan %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
})");
  EXPECT_EQ(unread.code, Errc::unsupported_operation);
  EXPECT_EQ(unread.detail,
            "f.mlir:2:8: 'math.sin': it is not read; f.mlir:3:8: 'math.cos': it is not read");
  ASSERT_EQ(told_.size(), 2u);  // what depends on them is not looked at
  EXPECT_EQ(told_[1].text(), "f.mlir:3:8: 'math.cos': it is not read");
  EXPECT_EQ(told_[1].at.line, 3u);
  EXPECT_EQ(told_[1].at.column, 8u);
}

TEST_F(MlirRefusals, LoopsOfOtherDialectsAreNotRead) {
  const Error error = refused_body("tensor<4xf32>", R"(  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  %s = arith.constant 1 : index
  %0 = scf.for %k = %i to %n step %s iter_args(%x = %a) -> tensor<4xf32> {
    %1 = arith.addf %x, %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
)");
  EXPECT_EQ(error.code, Errc::unsupported_operation);
  EXPECT_THAT(error.detail, HasSubstr("f.mlir:5:8: 'scf.for': it is not read"));
}

TEST_F(MlirRefusals, AnOpOfABodyIsNamedWithItsPlace) {
  const Error error = refused_body("tensor<4xf32>", R"(  %0 = linalg.generic {
      indexing_maps = [affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32):
    %1 = math.sin %x : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
)");
  EXPECT_EQ(error.code, Errc::unsupported_operation);
  EXPECT_THAT(error.detail, AllOf(HasSubstr("f.mlir:2:8: 'linalg.generic': "),
                                  HasSubstr("'math.sin' at f.mlir:6:10 in it: it is not read")));
}

constexpr const char* three_functions = R"(
func.func @a(%x: f32) -> f32 { return %x : f32 }
func.func private @b(%x: f32) -> f32 { return %x : f32 }
func.func @c(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
)";

TEST_F(MlirRefusals, OneOfSeveralFunctionsIsNamed) {
  const Error several = refused(three_functions);
  EXPECT_EQ(several.code, Errc::invalid_argument);
  EXPECT_EQ(several.detail, "the module has several functions, name one: 'a', 'c'");
  const Error none = refused(three_functions, "d");
  EXPECT_EQ(none.code, Errc::invalid_argument);
  EXPECT_EQ(none.detail, "the module has no function 'd'; it has 'a', 'c'");
  const auto one = read(three_functions, {.function = "c"});
  ASSERT_TRUE(one) << one.error().text();
  EXPECT_EQ(one->name(), "c");
}

TEST_F(MlirRefusals, AFunctionHasABody) {
  for (const char* text : {"module {}", "func.func private @f(tensor<2xf32>) -> tensor<2xf32>"}) {
    const Error error = refused(text);
    EXPECT_EQ(error.code, Errc::invalid_argument);
    EXPECT_THAT(error.detail, HasSubstr("no func.func with a body that is public"));
  }
}

TEST_F(MlirRefusals, AFunctionHasOneBlock) {
  const Error error = refused(R"(func.func @f(%a: f32, %b: f32, %n: i32) -> f32 {
  %zero = arith.constant 0 : i32
  %c = arith.cmpi eq, %n, %zero : i32
  cf.cond_br %c, ^one, ^two
^one:
  %0 = arith.addf %a, %b : f32
  return %0 : f32
^two:
  %1 = arith.mulf %a, %b : f32
  return %1 : f32
})");
  EXPECT_EQ(error.code, Errc::invalid_argument);
  EXPECT_THAT(error.detail, AllOf(HasSubstr("f.mlir:1:1"), HasSubstr("several blocks")));
}

TEST_F(MlirRefusals, ExtentsAreClosed) {
  const Error argument = refused(
      "func.func @f(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {\n  return %a : tensor<?x3xf32>\n}");
  EXPECT_EQ(argument.code, Errc::invalid_argument);
  EXPECT_THAT(argument.detail, HasSubstr("extents of tensor<?x3xf32> are open"));
  const Error between = refused(R"(func.func @f(%a: tensor<4xf32>, %n: i64) -> tensor<4xf32> {
  %i = arith.index_cast %n : i64 to index
  %0 = tensor.extract_slice %a[0] [%i] [1] : tensor<4xf32> to tensor<?xf32>
  %2 = arith.negf %0 : tensor<?xf32>
  %1 = tensor.insert_slice %2 into %a[0] [%i] [1] : tensor<?xf32> into tensor<4xf32>
  return %1 : tensor<4xf32>
})");
  EXPECT_EQ(between.code, Errc::invalid_argument);
  EXPECT_THAT(between.detail, HasSubstr("f.mlir:3:8: 'tensor.extract_slice': extents of"));
}

TEST_F(MlirRefusals, ElementTypesThatWeDoNotHave) {
  for (const char* type : {"tensor<2xf16>", "tensor<2xf64>", "tensor<2xbf16>", "tensor<2xi8>",
                           "tensor<2xi16>", "tensor<2xui32>", "tensor<2xcomplex<f32>>", "f64",
                           "tensor<*xf32>", "vector<2xf32>", "tensor<2xi1>", "i1"}) {
    const Error error = refused_body(type, std::string("  return %a : ") + type + "\n");
    EXPECT_EQ(error.code, Errc::invalid_dtype) << type;
    EXPECT_THAT(error.detail, AllOf(HasSubstr("argument 0 of 'func.func' at f.mlir:1:1"),
                                    HasSubstr("f32, i32 and i64 are read")));
  }
}

TEST_F(MlirRefusals, ATruthIsNoResult) {
  const Error error = refused(R"(func.func @f(%a: tensor<2xf32>) -> tensor<2xi1> {
  %0 = arith.cmpf olt, %a, %a : tensor<2xf32>
  return %0 : tensor<2xi1>
})");
  EXPECT_EQ(error.code, Errc::invalid_dtype);
  EXPECT_THAT(error.detail, HasSubstr("'func.return' at f.mlir:3:3"));
}

TEST_F(MlirRefusals, AnotherTypeInBetweenIsNamed) {
  const Error error = refused_body("tensor<2xf32>", R"(
  %0 = arith.extf %a : tensor<2xf32> to tensor<2xf64>
  %1 = arith.addf %0, %0 : tensor<2xf64>
  %2 = arith.truncf %1 : tensor<2xf64> to tensor<2xf32>
  return %2 : tensor<2xf32>
)");
  EXPECT_THAT(error.detail, HasSubstr("f.mlir:3:8: 'arith.extf'"));
}

TEST_F(MlirRefusals, MemoryIsDense) {
  const Error error = refused(
      "func.func @f(%a: memref<2x3xf32, strided<[6, 2]>>, %b: memref<2x3xf32>) {\n"
      "  linalg.exp ins(%a : memref<2x3xf32, strided<[6, 2]>>) outs(%b : memref<2x3xf32>)\n"
      "  return\n}");
  EXPECT_EQ(error.code, Errc::unsupported_operation);
  EXPECT_THAT(error.detail, HasSubstr("only memrefs without a layout are read"));
}

TEST_F(MlirRefusals, MemoryIsNotGivenBack) {
  const Error error =
      refused("func.func @f(%a: memref<2xf32>) -> memref<2xf32> {\n  return %a : memref<2xf32>\n}");
  EXPECT_EQ(error.code, Errc::invalid_dtype);
  EXPECT_THAT(error.detail, HasSubstr("no memref is given back"));
}

TEST_F(MlirRefusals, NobodyReadsWhatNobodyWrote) {
  const Error memory = refused(R"(func.func @f(%a: memref<3xf32>, %b: memref<3xf32>) {
  %t = memref.alloc() : memref<3xf32>
  linalg.add ins(%a, %t : memref<3xf32>, memref<3xf32>) outs(%b : memref<3xf32>)
  return
})");
  EXPECT_EQ(memory.code, Errc::unsupported_operation);
  EXPECT_THAT(memory.detail, HasSubstr("elements are read that nothing has written"));
}

/// Of one nest of loops over a tensor of 4 elements.
std::string loops(const std::string& map, const std::string& type, const std::string& out_map) {
  return "  %e = tensor.empty() : " + type + "\n  %0 = linalg.generic {indexing_maps = [" + map +
         ", " + out_map + "], iterator_types = [\"parallel\"]} ins(%a : " + type +
         ") outs(%e : " + type +
         ") {\n  ^bb0(%x: f32, %z: f32):\n    %y = arith.negf %x : f32\n    linalg.yield %y : "
         "f32\n  } -> " +
         type + "\n  return %0 : " + type + "\n";
}

TEST_F(MlirRefusals, MapsAreSumsOfLoops) {
  const std::string each = "affine_map<(d) -> (d)>";
  const Error error = refused_body(
      "tensor<4xf32>", loops("affine_map<(d) -> (d floordiv 2)>", "tensor<4xf32>", each));
  EXPECT_EQ(error.code, Errc::unsupported_operation);
  EXPECT_THAT(error.detail, HasSubstr("a map that is no sum of loops"));
  const Error rest =
      refused_body("tensor<4xf32>", loops("affine_map<(d) -> (d mod 2)>", "tensor<4xf32>", each));
  EXPECT_EQ(rest.code, Errc::unsupported_operation);
  const Error diagonal = refused_body(
      "tensor<4x4xf32>",
      loops("affine_map<(d) -> (d, d)>", "tensor<4x4xf32>", "affine_map<(d) -> (d, d)>"));
  EXPECT_EQ(diagonal.code, Errc::unsupported_operation);
}

TEST_F(MlirRefusals, ResultsAreWrittenForwardsAndAsAWhole) {
  for (const char* map : {"affine_map<(d) -> (-d + 3)>", "affine_map<(d) -> (3 - d)>"}) {
    const Error error =
        refused_body("tensor<4xf32>", loops("affine_map<(d) -> (d)>", "tensor<4xf32>", map));
    EXPECT_THAT(error.detail, HasSubstr("a result that the loops do not write as a whole"));
  }
}

TEST_F(MlirRefusals, NumbersAreNotCutToABit) {
  const Error error =
      refused_body("tensor<4xi32>", R"(  %0 = arith.trunci %a : tensor<4xi32> to tensor<4xi1>
  %1 = arith.extui %0 : tensor<4xi1> to tensor<4xi32>
  return %1 : tensor<4xi32>
)");
  EXPECT_EQ(error.code, Errc::unsupported_operation);
  EXPECT_THAT(error.detail, HasSubstr("a single bit of a number is not read"));
}

TEST_F(MlirRefusals, PaddingsAddElements) {
  const Error error = refused(R"(func.func @f(%a: tensor<4xf32>) -> tensor<5xf32> {
  %n = arith.constant 0.0 : f32
  %0 = tensor.pad %a low[-1] high[2] {
  ^bb0(%i: index):
    tensor.yield %n : f32
  } : tensor<4xf32> to tensor<5xf32>
  return %0 : tensor<5xf32>
})");
  EXPECT_EQ(error.code, Errc::unsupported_operation);
  EXPECT_THAT(error.detail, HasSubstr("'tensor.pad': a padding below 0"));
}

TEST_F(MlirRefusals, AWindowHasItsLoopsForItself) {
  for (const char* op : {"arith.maximumf %x, %z", "arith.addf %x, %z"}) {
    const Error error = refused(std::string(R"(
func.func @f(%a: tensor<5x5xf32>, %w: tensor<3xf32>, %c: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(n, m, k) -> (n + k, m + k)>,
         affine_map<(n, m, k) -> (k)>, affine_map<(n, m, k) -> (n, m)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<5x5xf32>, tensor<3xf32>) outs(%c : tensor<3x3xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = )") + op + R"( : f32
    linalg.yield %s : f32
  } -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
})");
    EXPECT_EQ(error.code, Errc::unsupported_operation);
    EXPECT_THAT(error.detail, HasSubstr("a loop that walks two dims of an image"));
  }
}

TEST_F(MlirRefusals, ResourcesHaveTheirElements) {
  const std::string function = R"(func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %w = arith.constant dense_resource<w> : tensor<4xf32>
  %0 = arith.mulf %a, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
)";
  const std::string part = function +
                           "{-# dialect_resources: { builtin: { w: "
                           "\"0x040000000000803F000000C0\" } } #-}";
  for (const std::string& text : {function, part}) {
    const Error error = refused(text);
    EXPECT_EQ(error.code, Errc::unsupported_operation);
    EXPECT_THAT(error.detail, HasSubstr("f.mlir:2:8: 'arith.constant'"));
  }
}

TEST_F(MlirRefusals, WhatMlirWarnsOfIsKept) {
  const auto graph =
      read("func.func @f(%a: f32) -> f32 {\n  return %a : f32\n}\n", {.diagnostics = &told_});
  EXPECT_TRUE(graph);
  EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace ringkernel::mlir
