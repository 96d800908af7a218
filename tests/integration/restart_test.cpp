// A program that is ended and begun anew, while the tensors stay.
#include <gmock/gmock.h>

#include <atomic>
#include <future>

#include "integration/sizes.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;

RK_ON_EACH_BACKEND(Restart);

TEST_P(Restart, EndsTheKernelsOfTheProgramAndNoOthers) {
  auto runtime = open();
  Kernel ops = active(runtime, "ops", {.program = "core"});
  Kernel echo = active(runtime, "echo");
  runtime.restart("core").value();
  EXPECT_EQ(ops.status(), KernelStatus::terminated);
  EXPECT_EQ(ops.call(ops::fill(std::array{1.0f}, {4})).error(), Errc::kernel_terminated);
  EXPECT_EQ(number_of(echo.call(numbered(7)).value()), 7u);
  EXPECT_EQ(runtime.metrics().executors, 1u);
}

TEST_P(Restart, KeepsTensorsAndServesNewKernelsOfTheSameName) {
  auto runtime = open();
  Tensor tensor = runtime.allocate(four_floats).value();
  for (int round = 0; round < 3; ++round) {
    Kernel kernel = active(runtime, "ops", {.program = "core"});
    kernel.call(ops::add(tensor, std::array{1.0f}).into(tensor)).value();
    runtime.restart("core").value();
  }
  std::vector<float> elements(4);
  tensor.read(elements).value();
  EXPECT_THAT(elements, Each(3.0f));
}

TEST_P(Restart, GivesBackWhatTheProgramHad) {
  auto runtime = open();
  const std::uint64_t free = runtime.metrics().arena_free_bytes;
  for (int round = 0; round < 3; ++round) {
    (void)active(runtime, "ops", {.program = "core"});
    EXPECT_LT(runtime.metrics().arena_free_bytes, free);
    runtime.restart("core").value();
    EXPECT_EQ(runtime.metrics().arena_free_bytes, free);
  }
}

TEST_P(Restart, LetsGoOfTensorsOfMessagesThatWereNeverExecuted) {
  auto runtime = open();
  Tensor tensor = runtime.allocate(four_floats).value();
  Kernel kernel = active(runtime, "ops", {.program = "core"});
  kernel.deactivate().value();
  ASSERT_TRUE(kernel.send(ops::relu(tensor)));
  EXPECT_EQ(tensor.write(std::vector<float>(4), 1ms).error(), Errc::deadline_exceeded);
  runtime.restart("core").value();
  EXPECT_EQ(kernel.receive(1s).error(), Errc::kernel_terminated);
  EXPECT_TRUE(tensor.write(std::vector<float>(4), 1ms));
}

/// The message, which has no turns, keeps the device for longer than it is given to obey.
TEST_P(Restart, IsRefusedWhileASliceHasNotReturnedAndWorksLater) {
  auto runtime = open({.turn_for = 0ns, .termination_timeout = 1ms});
  const std::uint32_t side = long_side(runtime, 2560);
  const TensorDesc square{DType::f32, {side, side}};
  Tensor a = runtime.allocate(square).value();
  Tensor b = runtime.allocate(square).value();
  Kernel kernel = active(runtime, "ops", {.program = "core"});
  ASSERT_TRUE(kernel.send(ops::add(a, a)).has_error()) << "the reply has no room";
  // The answer says that a slice is at work: it takes the next message before it sees a stop.
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(kernel.send(ops::matmul(a, a).into(b)));
  ASSERT_TRUE(kernel.receive(30s));
  const Result<void> first = runtime.restart("core");
  ASSERT_TRUE(first.has_error());
  EXPECT_EQ(first.error(), Errc::execution_timeout);
  const auto refused = runtime.launch("next", {.program = "core"});
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error(), Errc::execution_timeout);
  Result<void> again = first;
  while (!again) again = runtime.restart("core");
  EXPECT_TRUE(b.write(std::vector<float>(square.element_count()), 1ms));
  Kernel next = active(runtime, "next", {.program = "core"});
  EXPECT_TRUE(next.call(ops::sum_all(a)));
  while (!runtime.restart("core")) {  // or its end might leave a slice behind, in so short a time
  }
}

TEST_P(Restart, OfAProgramThatNobodyUsedIsNothing) {
  auto runtime = open();
  EXPECT_TRUE(runtime.restart("core"));
  runtime.shutdown().value();
  EXPECT_EQ(runtime.restart("core").error(), Errc::runtime_closed);
}

TEST_P(Restart, RacesWithLaunchesWithoutLosingAny) {
  auto runtime = open();
  std::atomic<bool> done = false;
  std::atomic<int> launched = 0;
  auto launcher = std::async(std::launch::async, [&] {
    for (int i = 0; !done; ++i) {
      const auto kernel =
          runtime.launch("k" + std::to_string(i), {.program = "core", .auto_activate = true});
      if (!kernel) {
        EXPECT_TRUE(kernel.error() == Errc::busy || kernel.error() == Errc::kernel_terminated ||
                    kernel.error() == Errc::invalid_state)
            << kernel.error().text();
        continue;
      }
      const auto reply = Kernel(*kernel).call(ops::fill(std::array{1.0f}, {4}));
      if (!reply) {
        EXPECT_EQ(reply.error(), Errc::kernel_terminated) << reply.error().text();
      }
      (void)Kernel(*kernel).terminate();
      ++launched;
    }
  });
  while (launched < 20) ASSERT_TRUE(runtime.restart("core"));
  done = true;
  launcher.get();
}

}  // namespace
}  // namespace ringkernel::test
