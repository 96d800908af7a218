// The rules of a gpu's profile on whole runtimes without a gpu: the device at hand, with a
// description that says it is one. Users cannot do that; the rest is what they run.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <memory>

#include "backend/registry.hpp"
#include "runtime/kernel_state.hpp"
#include "runtime/runtime_state.hpp"
#include "runtime/tensor.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GpuProfile : public OnEachBackend {
 protected:
  void SetUp() override {
    OnEachBackend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const auto backend = backend::find_backend(GetParam());
    ASSERT_TRUE(backend) << backend.error().text();
    rk_device_description description = backend->describe(0).value();
    description.kind = RK_DEVICE_KIND_GPU;
    const RuntimeOptions options;
    rk_device_options device_options{};
    device_options.executors_max = programs_max;
    device_options.arena_bytes = options.arena_bytes;
    backend::OpenDevice device = backend->open(0, device_options).value();
    const rk_device_state state = device.state().value();
    runtime = std::make_shared<detail::RuntimeState>(options, GetParam(), description,
                                                     std::move(device), state);
    runtime->start(nullptr);
    kernel = Kernel(runtime->launch("ops", {.auto_activate = true}).value());
  }
  void TearDown() override {
    if (!runtime) return;
    EXPECT_TRUE(runtime->shutdown());
  }

  Tensor allocate(const TensorDesc& desc) {
    return Tensor(
        std::make_shared<detail::TensorState>(runtime, runtime->allocate(desc).value(), desc));
  }
  template <std::size_t count>
  static std::array<float, count> elements_of(const Tensor& tensor) {
    std::array<float, count> elements{};
    tensor.read(elements).value();
    return elements;
  }

  std::shared_ptr<detail::RuntimeState> runtime;
  Kernel kernel;
};
INSTANTIATE_TEST_SUITE_P(Backends, GpuProfile, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(GpuProfile, HasScalarsInTheFirstOfFourElements) {
  const std::array<float, 8> x{1, 2, 3, 4, 5, 6, 7, 8};
  Tensor resident = allocate({DType::f32, {2, 4}});
  resident.write(x).value();
  Tensor four = allocate({DType::f32, {4}});
  Tensor twelve = allocate({DType::f32, {3, 4}});
  const std::array<float, 2> vector{3, 4};
  const struct {
    Request request;
    float value;
  } scalars[] = {
      {ops::sum_all(resident), 36},
      {ops::mean_all(x), 4.5},
      {ops::sum(resident, {}), 36},
      {ops::mean(resident, {0, 1}), 4.5},
      {ops::index(resident, {1, 2}), 7},
      {ops::dot(vector, vector), 25},
      {ops::squeeze({{1, 1}, std::span(x).first(1)}), 1},
  };
  for (const auto& [request, value] : scalars) {
    four.write(std::array<float, 4>{-1, -1, -1, -1}).value();
    const auto reply = kernel.call(request.into(four));
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->tensor().desc.dtype, DType::none);
    EXPECT_THAT(elements_of<4>(four), ElementsAre(value, 0, 0, 0));
    // As a larger tensor's first element; behind the three zeros nothing is touched.
    std::array<float, 12> before;
    before.fill(-1);
    twelve.write(before).value();
    ASSERT_TRUE(kernel.call(request.into(twelve)));
    EXPECT_THAT(elements_of<12>(twelve),
                ElementsAre(value, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1));
    // And where a scalar lies, fill reads it.
    ASSERT_TRUE(kernel.call(ops::fill(four, {3, 4}).into(twelve)));
    EXPECT_THAT(elements_of<12>(twelve), ::testing::Each(value));
  }
}

TEST_P(GpuProfile, LeavesTheOutputOfAFailedOpAsItWas) {
  Tensor rows = allocate({DType::f32, {4}});
  Tensor output = allocate({DType::f32, {4}});
  const std::array<float, 4> before{5, 6, 7, 8};
  output.write(before).value();
  const std::array<std::int32_t, 1> beyond{4};
  const TensorView index({DType::i32, {}}, beyond.data());
  const auto refused = kernel.call(ops::gather(rows, index).into(output));
  EXPECT_EQ(refused.error(), Errc::out_of_bounds);
  EXPECT_EQ(elements_of<4>(output), before);
}

TEST_P(GpuProfile, HasIntegersOnlyAsIndices) {
  Tensor rows = allocate({DType::f32, {4, 2}});
  rows.write(std::array<float, 8>{0, 1, 2, 3, 4, 5, 6, 7}).value();
  Tensor indices = allocate({DType::i64, {2}});
  indices.write(std::array<std::int64_t, 2>{3, 1}).value();
  const auto reply = kernel.call(ops::gather(rows, indices));
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_THAT(reply->floats(), ElementsAre(6, 7, 2, 3));

  const auto refused = kernel.call(ops::sum_all(indices));
  EXPECT_EQ(refused.error(), Errc::invalid_dtype);
  EXPECT_THAT(refused.error().text(), HasSubstr("E2005"));
  EXPECT_EQ(kernel.call(ops::gather(rows, rows)).error(), Errc::invalid_index_dtype);
  EXPECT_EQ(runtime->allocate({DType::f32, {}}).error(), Errc::allocation_failure);
}

}  // namespace
}  // namespace ringkernel::test
