// What options say, and functions that are remembered. What modules become is in corpus_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ringkernel/mlir.hpp"
#include "ringkernel/ringkernel.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

/// Two functions: one adds its arguments, the other gives the sum twice.
constexpr std::string_view two_functions = R"(
func.func @sum(%x: tensor<3xf32>, %total: tensor<3xf32>) -> tensor<3xf32> {
  %next = arith.addf %total, %x : tensor<3xf32>
  return %next : tensor<3xf32>
}
func.func @running(%x: tensor<3xf32>, %total: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %next = func.call @sum(%x, %total) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %next, %next : tensor<3xf32>, tensor<3xf32>
}
)";

class MlirOptions : public OnEachBackend {
 protected:
  void SetUp() override {
    OnEachBackend::SetUp();
    if (const auto library = mlir::find_library(); !library)
      RK_SKIP_WITHOUT("mlir", library.error().text());
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, MlirOptions, ::testing::ValuesIn(backend_names()),
                         backend_label);

std::vector<float> first_output(const CompiledFunction& function, const std::vector<float>& x) {
  const auto result = function.execute(x).value();
  const auto elements = result.elements<float>(0);
  return {elements.begin(), elements.end()};
}

TEST_P(MlirOptions, StateStaysOnTheDeviceForEachInstance) {
  RingKernelRuntime runtime = open();
  const Graph graph = mlir::read(two_functions, {.function = "running", .state = {{1, 0}}}).value();
  EXPECT_EQ(graph.inputs().size(), 1u);
  EXPECT_EQ(graph.states().size(), 1u);
  EXPECT_EQ(graph.outputs().size(), 1u);
  CompiledFunction function = runtime.compile(graph).value();
  CompiledFunction other = function.instance().value();
  EXPECT_EQ(first_output(function, {1, 2, 3}), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(first_output(function, {1, 2, 3}), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(first_output(other, {5, 5, 5}), (std::vector<float>{5, 5, 5}));
  EXPECT_EQ(first_output(function, {1, 2, 3}), (std::vector<float>{3, 6, 9}));
}

TEST_P(MlirOptions, AFunctionIsReadOnceForEachTextAndItsOptions) {
  RingKernelRuntime runtime = open();
  const TensorDesc three{DType::f32, {3}};
  const std::array both{three, three};
  const auto get = [&](const char* name) {
    return mlir::get_or_compile(runtime, two_functions, both, {.function = name});
  };
  EXPECT_EQ(get("sum")->signature().outputs.size(), 1u);
  EXPECT_EQ(get("running")->signature().outputs.size(), 2u);
  EXPECT_EQ(get("sum")->signature().outputs.size(), 1u);
  const RuntimeMetrics metrics = runtime.metrics();
  EXPECT_EQ(metrics.function_cache_misses, 2u);
  EXPECT_EQ(metrics.function_cache_hits, 1u);
  const auto other_shapes =
      mlir::get_or_compile(runtime, two_functions, {&three, 1}, {.function = "sum"});
  EXPECT_TRUE(other_shapes.error() == Errc::invalid_argument) << other_shapes.error().text();
}

TEST_P(MlirOptions, StatesThatAreNoneAreRefused) {
  const auto read = [](std::map<std::size_t, std::size_t> state) {
    return mlir::read(two_functions, {.function = "running", .state = std::move(state)});
  };
  for (const auto& graph : {read({{2, 0}}), read({{0, 2}}), read({{0, 1}, {1, 1}})}) {
    ASSERT_FALSE(graph.has_value());
    EXPECT_TRUE(graph.error() == Errc::invalid_argument);
    EXPECT_NE(graph.error().text().find("has 2 arguments and 2 results"), std::string::npos)
        << graph.error().text();
  }
  const auto other_type = mlir::read(R"(
func.func @f(%x: tensor<3xf32>, %s: tensor<1xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
})",
                                     {.state = {{1, 0}}});
  EXPECT_TRUE(other_type.error() == Errc::invalid_argument) << other_type.error().text();
}

TEST_P(MlirOptions, TheGraphHasTheFunctionsNameUnlessItGetsAnother) {
  EXPECT_EQ(mlir::read(two_functions, {.function = "sum"})->name(), "sum");
  EXPECT_EQ(mlir::read(two_functions, {.name = "x", .function = "sum"})->name(), "x");
}

}  // namespace
}  // namespace ringkernel::test
