// Every op through the public API on every backend: right by its definition, and the same bytes in
// every run and everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "conformance/cases.hpp"
#include "support/backends.hpp"
#include "support/elements.hpp"

namespace ringkernel::test {
namespace {

/// Every op that computes. Only noop does not: it has neither operands nor a result to compare.
std::vector<Op> computing_ops() {
  std::vector<Op> ops;
  for (const OpInfo& info : op_table())
    if (info.op != Op::noop) ops.push_back(info.op);
  return ops;
}

TEST(Cases, CoverEveryOpThatComputes) {
  for (const Op op : computing_ops()) EXPECT_FALSE(cases_of(op).empty()) << name_of(op);
}

using OpOnBackend = std::tuple<const char*, Op>;

std::string label(const ::testing::TestParamInfo<OpOnBackend>& info) {
  return label_of(std::string_view(std::get<0>(info.param))) + "_" +
         std::string(name_of(std::get<1>(info.param)));
}

/// All tests share one runtime for each backend, opened by the first test that needs it, with the
/// active kernel "ops" on it.
class EveryOp : public ::testing::TestWithParam<OpOnBackend> {
 protected:
  static void SetUpTestSuite() { std::cout << "seed of the cases: " << cases_seed << '\n'; }
  static void TearDownTestSuite() { runtimes.clear(); }

  void SetUp() override {
    const auto& runtime = runtime_on(backend());
    if (!runtime && runtime.error() == Errc::backend_unavailable &&
        !is_of_host_threads(backend()) && !are_named())
      RK_SKIP_WITHOUT(label_of(backend()), runtime.error().text());
    ASSERT_TRUE(runtime) << runtime.error().text();
  }

  [[nodiscard]] static std::string_view backend() { return std::get<0>(GetParam()); }
  [[nodiscard]] static std::vector<Case> cases() { return cases_of(std::get<1>(GetParam())); }
  [[nodiscard]] static Result<Reply> call(std::string_view backend, const Case& example) {
    return runtime_on(backend)->call("ops", example.request());
  }
  [[nodiscard]] static Result<RingKernelRuntime>& runtime_on(std::string_view backend) {
    const auto found = runtimes.find(backend);
    return found != runtimes.end() ? found->second
                                   : runtimes.emplace(backend, open(backend)).first->second;
  }

 protected:
  /// Whose bytes count, whatever the strategy under test.
  static constexpr std::string_view reference = "native";

 private:
  [[nodiscard]] static Result<RingKernelRuntime> open(std::string_view backend) {
    RuntimeOptions options;
    if (backend == reference) options.transfer = Transfer::zero_copy;
    auto runtime =
        RingKernelRuntime::builder().backend(std::string(backend)).options(options).build();
    constexpr std::uint32_t ring_bytes = 1 << 20;  // the largest cases have i64 elements
    if (runtime)
      RK_TRY_VOID(runtime->launch(
          "ops", {.input_bytes = ring_bytes, .output_bytes = ring_bytes, .auto_activate = true}));
    return runtime;
  }

  static inline std::map<std::string_view, Result<RingKernelRuntime>> runtimes;
};

/// |got - want| <= 1e-6 (1 + |want|), where |want| is taken before anything cancels: docs/OPS.md.
void expect_close(const TensorView& got, const Case& example) {
  const Values want = example.expected();
  const Values bound = example.magnitudes();
  const TensorDesc desc{example.result_dtype(), want.shape};
  ASSERT_EQ(got.desc, desc) << got.desc.text();
  const std::vector<float> elements = decoded(got.desc, got.data);
  for (std::size_t i = 0; i < want.elements.size(); ++i) {
    const double rounding = desc.dtype == DType::f32 ? 1e-6 * (1 + std::abs(bound.elements[i])) : 0;
    ASSERT_NEAR(elements[i], want.elements[i], rounding) << "element " << i;
  }
}

TEST_P(EveryOp, ComputesWhatItsDefinitionSays) {
  for (const Case& example : cases()) {
    SCOPED_TRACE(example.text());
    const auto reply = call(backend(), example);
    ASSERT_TRUE(reply) << reply.error().text();
    expect_close(reply->tensor(), example);
  }
}

TEST_P(EveryOp, GivesTheBytesOfTheNativeBackendInEveryRun) {
  for (const Case& example : cases()) {
    SCOPED_TRACE(example.text());
    const auto expected = call(reference, example);
    ASSERT_TRUE(expected) << expected.error().text();
    for (int run = 0; run < 2; ++run) {
      const auto reply = call(backend(), example);
      ASSERT_TRUE(reply) << reply.error().text();
      ASSERT_TRUE(std::ranges::equal(reply->bytes(), expected->bytes())) << "run " << run;
    }
  }
}

/// Whether all of a case's tensors may be resident on a GPU (docs/TENSORS.md).
bool is_of_gpu_profile(const Case& example, const TensorDesc& result) {
  const auto may_be = [](const TensorDesc& desc) {
    return desc.dtype == DType::f32 && desc.element_count() % 4 == 0;
  };
  return may_be(result) && std::ranges::all_of(example.inputs, [&](const Tensor& input) {
           return may_be(input.view().desc);
         });
}

TEST_P(EveryOp, GivesTheSameBytesOnResidentTensors) {
  RingKernelRuntime& runtime = *runtime_on(backend());
  const bool is_gpu = keeps_gpu_profile(runtime);
  int tried = 0;
  for (const Case& example : cases()) {
    SCOPED_TRACE(example.text());
    const auto expected = call(backend(), example);
    ASSERT_TRUE(expected) << expected.error().text();
    if (is_gpu && !is_of_gpu_profile(example, expected->tensor().desc)) continue;
    ++tried;
    const std::span want(static_cast<const std::byte*>(expected->tensor().data),
                         expected->tensor().desc.bytes());
    auto output = runtime.allocate(expected->tensor().desc).value();
    std::vector<::ringkernel::Tensor> inputs;
    for (const Tensor& input : example.inputs) {
      const TensorView view = input.view();
      inputs.push_back(runtime.allocate(view.desc).value());
      const std::span elements(static_cast<const std::byte*>(view.data), view.desc.bytes());
      inputs.back().write(elements).value();
    }
    // Every mix: bit i, whether input i is resident.
    for (std::uint32_t mix = 0; mix < 1u << inputs.size(); ++mix) {
      Request request = example.request();
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if ((mix & (1u << i)) != 0) request.inputs[i] = inputs[i];
      const auto inline_reply = runtime.call("ops", request);
      ASSERT_TRUE(inline_reply) << inline_reply.error().text();
      EXPECT_TRUE(std::ranges::equal(inline_reply->bytes(), expected->bytes())) << mix;

      output.write(std::vector<std::byte>(want.size(), std::byte{7})).value();
      const auto reply = runtime.call("ops", request.into(output));
      ASSERT_TRUE(reply) << reply.error().text();
      EXPECT_EQ(reply->tensor().desc.dtype, DType::none);
      std::vector<std::byte> got(want.size());
      output.read(got).value();
      EXPECT_TRUE(std::ranges::equal(got, want)) << mix;
    }
  }
  if (tried == 0) RK_SKIP_UNSUPPORTED("no case has tensors that may be resident on a GPU");
}

INSTANTIATE_TEST_SUITE_P(Backends, EveryOp,
                         ::testing::Combine(::testing::ValuesIn(backend_names()),
                                            ::testing::ValuesIn(computing_ops())),
                         label);

}  // namespace
}  // namespace ringkernel::test
