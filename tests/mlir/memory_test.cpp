// What memory is read or refused, resources however they are written, and sums that wrap.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "ringkernel/mlir.hpp"
#include "ringkernel/ringkernel.hpp"
#include "support/skip.hpp"

namespace ringkernel::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MlirMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto library = mlir::find_library(); !library)
      RK_SKIP_WITHOUT("mlir", library.error().text());
  }

  static std::string refusal_of(const std::string& text, Diagnostics* told = nullptr) {
    const auto graph = mlir::read(text, {.diagnostics = told});
    return graph ? "read" : graph.error().text();
  }

  /// The first output of a function of floats.
  template <class T = float>
  static std::vector<T> run(const std::string& text, const std::vector<float>& x) {
    auto runtime = RingKernelRuntime::builder().backend("native").build().value();
    const auto result = runtime.compile(mlir::read(text).value()).value().execute(x).value();
    return {result.elements<T>(0).begin(), result.elements<T>(0).end()};
  }
};

constexpr const char* identity = "affine_map<(d0) -> (d0)>";
constexpr const char* reversal = "affine_map<(d0) -> (-d0 + 2)>";

/// %m = %m + 1, read by this map.
std::string onto_itself(const std::string& map) {
  return "func.func @f(%m: memref<3xf32>) {\n  %one = arith.constant 1.0 : f32\n"
         "  linalg.generic {indexing_maps = [" +
         map + ", " + identity +
         "], iterator_types = [\"parallel\"]} ins(%m : memref<3xf32>) outs(%m : memref<3xf32>) {\n"
         "  ^bb0(%x: f32, %o: f32):\n    %y = arith.addf %x, %one : f32\n"
         "    linalg.yield %y : f32\n  }\n  return\n}\n";
}

TEST_F(MlirMemory, IsReadInTheOrderInWhichItIsWritten) {
  EXPECT_THAT(run(onto_itself(identity), {1, 2, 3}), ElementsAre(2, 3, 4));
  EXPECT_THAT(refusal_of(onto_itself(reversal)),
              HasSubstr("memory that it writes in one order and reads in another"));
}

TEST_F(MlirMemory, WhatABodyLoadsIsAnInput) {
  const std::string text = R"(
func.func @f(%from: memref<3xf32>, %to: memref<3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%to : memref<3xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %x = memref.load %from[%i] : memref<3xf32>
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  }
  return
})";
  EXPECT_THAT(run(text, {1, 2, 3}), ElementsAre(2, 4, 6));
  std::string onto_itself = text;
  onto_itself.replace(onto_itself.find("load %from"), 10, "load %to");
  EXPECT_THAT(refusal_of(onto_itself), HasSubstr("memory that it writes"));
}

TEST_F(MlirMemory, AnotherNameForItIsRefused) {
  EXPECT_THAT(refusal_of(R"(
func.func @f(%c: i32, %m: memref<3xf32>, %n: memref<3xf32>) {
  %zero = arith.constant 0 : i32
  %b = arith.cmpi sgt, %c, %zero : i32
  %s = arith.select %b, %m, %n : memref<3xf32>
  memref.copy %s, %n : memref<3xf32> to memref<3xf32>
  return
})"),
              HasSubstr("'arith.select': another name for memory is not read"));
}

/// x + the resource `key`, with this line in the section of resources.
std::string with_resource(const std::string& key, const std::string& line) {
  return "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
         "  %w = arith.constant dense_resource<" +
         key +
         "> : tensor<2xf32>\n  %y = arith.addf %x, %w : tensor<2xf32>\n"
         "  return %y : tensor<2xf32>\n}\n{-#\n  // w: \"0x040000000000A0400000A040\"\n"
         "  dialect_resources: {\n    builtin: {\n      " +
         line + "\n    }\n  }\n#-}\n";
}

TEST_F(MlirMemory, ResourcesAreThoseOfTheirSectionHoweverTheyAreWritten) {
  const std::string digits = "\"0x040000000000803F00000040\"";  // 1, 2
  std::vector<std::string> texts{with_resource("w", "w: " + digits),
                                 with_resource("w", "w : " + digits)};
  if (mlir::find_library()->major > 19) {  // which takes no other names
    texts.push_back(with_resource("\"w\"", "\"w\": " + digits));
    texts.push_back(with_resource("\"a b\"", "other: " + digits + ", \"a b\": " + digits));
  }
  for (const std::string& text : texts)
    EXPECT_THAT(run(text, {10, 20}), ElementsAre(11, 22)) << text;
  EXPECT_THAT(refusal_of(with_resource("w", "other: " + digits)), HasSubstr("'arith.constant'"));
  EXPECT_THAT(refusal_of(with_resource("w", "w: \"0x040000000000803F\"")),
              HasSubstr("'arith.constant'"));
}

TEST_F(MlirMemory, PartsAreInside) {
  const auto part = [](const std::string& where) {
    return "func.func @f() -> tensor<2xf32> {\n"
           "  %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n"
           "  %y = tensor.extract_slice %c" +
           where + " : tensor<3xf32> to tensor<2xf32>\n  return %y : tensor<2xf32>\n}\n";
  };
  EXPECT_EQ(refusal_of(part("[1] [2] [1]")), "read");
  EXPECT_EQ(refusal_of(part("[0] [2] [2]")), "read");
  for (const char* outside : {"[2] [2] [1]", "[1] [2] [2]", "[9223372036854775807] [2] [1]"})
    EXPECT_NE(refusal_of(part(outside)), "read") << outside;  // MLIR 22 has words of its own
}

TEST_F(MlirMemory, ASumOfIntegersWraps) {
  const std::string text = R"(
func.func @f(%x: tensor<65536xf32>) -> tensor<i32> {
  %zero = arith.constant dense<7> : tensor<i32>
  %one = arith.constant 1 : i32
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> ()>],
                       iterator_types = ["reduction", "reduction"]}
      ins(%x, %x : tensor<65536xf32>, tensor<65536xf32>) outs(%zero : tensor<i32>) {
  ^bb0(%a: f32, %b: f32, %o: i32):
    %s = arith.addi %o, %one : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r : tensor<i32>
})";
  EXPECT_THAT(run<std::int32_t>(text, std::vector<float>(65536)), ElementsAre(7));
}

TEST_F(MlirMemory, EveryErrorIsTold) {
  Diagnostics told;
  const std::string text = refusal_of(
      "func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
      "  return %x : tensor<?xf32>\n}\n",
      &told);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].severity, Severity::error);
  EXPECT_THAT(text, HasSubstr(told[0].message));
}

}  // namespace
}  // namespace ringkernel::test
