// Transfer strategies as a user meets them: asked for by option or environment, named by metrics,
// refused with a reason.
#include <gmock/gmock.h>

#include <string>

#include "support/backends.hpp"
#include "support/environment.hpp"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(TransferStrategies);

TEST_P(TransferStrategies, AnOptionAsksForOneAndMetricsNameIt) {
  const std::pair<Transfer, const char*> strategies[] = {
      {Transfer::zero_copy, "zero_copy"}, {Transfer::dma, "dma"}, {Transfer::sliced, "sliced"}};
  for (const auto& [transfer, name] : strategies) {
    auto runtime = open_on(GetParam(), {.transfer = transfer});
    if (!may_have(GetParam(), transfer)) {
      ASSERT_TRUE(runtime.has_error()) << name;
      EXPECT_EQ(runtime.error(), Errc::backend_unavailable);
      EXPECT_THAT(runtime.error().detail, HasSubstr("zero_copy"));
      continue;
    }
    if (!runtime && runtime.error() == Errc::backend_unavailable &&
        !is_of_host_threads(GetParam()) && transfer != Transfer::sliced)
      continue;  // a device may lack it
    ASSERT_TRUE(runtime) << name << ": " << runtime.error().text();
    EXPECT_EQ(runtime->metrics().transfer, name);
    Kernel kernel = active(*runtime, "a");
    EXPECT_EQ(number_of(kernel.call(numbered(42)).value()), 42u);
  }
}

TEST_P(TransferStrategies, TheEnvironmentAsksWhereTheOptionDoesNot) {
  const testing::Variable variable("RINGKERNEL_TRANSFER", "sliced");
  if (may_have(GetParam(), Transfer::sliced)) {
    EXPECT_EQ(open().metrics().transfer, "sliced");
  } else {
    EXPECT_EQ(open_on(GetParam()).error(), Errc::backend_unavailable);
  }
  const auto asked = open_on(GetParam(), {.transfer = Transfer::zero_copy});
  if (asked) {
    EXPECT_EQ(asked->metrics().transfer, "zero_copy");
  }
}

TEST_P(TransferStrategies, AnUnknownNameIsRefused) {
  const testing::Variable variable("RINGKERNEL_TRANSFER", "telepathy");
  const auto runtime = open_on(GetParam());
  ASSERT_TRUE(runtime.has_error());
  EXPECT_EQ(runtime.error(), Errc::invalid_argument);
  EXPECT_THAT(runtime.error().detail, HasSubstr("telepathy"));
  EXPECT_THAT(runtime.error().detail, HasSubstr("zero_copy, dma and sliced"));
}

/// A message that takes long on the device does not take the caller's timeout with it.
TEST_P(TransferStrategies, ACallEndsInTimeWhateverTheDeviceDoes) {
  for (const Transfer transfer : {Transfer::dma, Transfer::sliced}) {
    if (!may_have(GetParam(), transfer)) continue;
    auto runtime = open_on(GetParam(), {.transfer = transfer});
    if (!runtime && runtime.error() == Errc::backend_unavailable) continue;
    ASSERT_TRUE(runtime) << runtime.error().text();
    const std::uint32_t side = long_side(*runtime, 1024);
    const TensorDesc square{DType::f32, {side, side}};
    Tensor a = runtime->allocate(square).value();
    Tensor b = runtime->allocate(square).value();
    Kernel kernel = active(*runtime, "ops", {.program = "core"});
    // Many milliseconds of work, then a call that has to wait behind it.
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(kernel.send(ops::matmul(a, a).into(b)));
    const auto late =
        kernel.call(ops::fill(std::array{1.0f}, {4}), {.timeout = std::chrono::milliseconds(1)});
    ASSERT_TRUE(late.has_error());
    EXPECT_EQ(late.error(), Errc::deadline_exceeded);
    for (int i = 0; i < 4; ++i) {
      const auto reply = kernel.receive(std::chrono::seconds(60));
      ASSERT_TRUE(reply) << reply.error().text();
    }
    EXPECT_TRUE(kernel.call(ops::fill(std::array{1.0f}, {4})));
  }
}

}  // namespace
}  // namespace ringkernel::test
