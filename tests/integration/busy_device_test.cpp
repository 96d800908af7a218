// A device that is at work for longer than it is given to obey, and a caller that spins: what ends
// nevertheless, and what is left of it.
#include <array>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;

class BusyDevice : public OnEachBackend {
 protected:
  /// Gives the kernel `ops` long ops, which are to run to their end (`turn_for` is 0). The first
  /// has been answered, so that the next is at work: at most that one is over before the device
  /// looks at anything else.
  static void keep_busy(RingKernelRuntime& runtime, Kernel& kernel, int ops,
                        std::uint32_t longest = 2048) {
    const std::uint32_t side = long_side(runtime, longest);
    const TensorDesc square{DType::f32, {side, side}};
    Tensor a = runtime.allocate(square).value();
    Tensor b = runtime.allocate(square).value();
    for (int i = 0; i < ops; ++i) ASSERT_TRUE(kernel.send(ops::matmul(a, a).into(b)));
    ASSERT_TRUE(kernel.receive(60s));
  }
  /// Its destructor gives it no more time than a termination, and leaves behind what has not ended.
  static void end(RingKernelRuntime& runtime) {
    while (!runtime.restart("core")) {
    }
  }
  static inline const KernelOptions core{.program = "core"};
  static constexpr std::array<float, 1> one{1.0f};
};
INSTANTIATE_TEST_SUITE_P(Backends, BusyDevice, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(BusyDevice, ADeactivationThatItDoesNotObeyLeavesTheKernelActive) {
  auto runtime = open({.turn_for = 0ns, .termination_timeout = 1ms});
  Kernel kernel = active(runtime, "busy", core);
  keep_busy(runtime, kernel, 3);
  EXPECT_EQ(kernel.deactivate().error(), Errc::execution_timeout);
  EXPECT_EQ(kernel.status(), KernelStatus::active);
  for (int i = 1; i < 3; ++i) EXPECT_TRUE(kernel.receive(60s));
  EXPECT_TRUE(kernel.call(ops::relu(one)));
  end(runtime);
}

/// Side by side: one after the other, the last would have outlasted the op.
TEST_P(BusyDevice, KernelsThatEndTogetherWaitForItTogether) {
  auto runtime = open({.turn_for = 0ns, .termination_timeout = 10ms});
  Kernel busy = active(runtime, "busy", core);
  std::vector<Kernel> others;
  for (int i = 0; i < 40; ++i)
    others.push_back(active(runtime, "other " + std::to_string(i), core));
  // On a loaded machine this thread may not have its turn for 100 ms: an op of 2048 might be over.
  keep_busy(runtime, busy, 2, 3072);
  end(runtime);
  for (Kernel& other : others)
    EXPECT_EQ(other.terminate().error(), Errc::execution_timeout) << other.id();
}

TEST_P(BusyDevice, RingsThatItHeldComeBackWhenItLetsGo) {
  auto runtime = open({.turn_for = 0ns, .termination_timeout = 1ms});
  Kernel busy = active(runtime, "busy", core);
  Kernel other = active(runtime, "other", core);
  keep_busy(runtime, busy, 2);
  const std::uint64_t free_before = runtime.metrics().arena_free_bytes;
  EXPECT_EQ(other.terminate().error(), Errc::execution_timeout);
  EXPECT_EQ(runtime.metrics().arena_free_bytes, free_before) << "it may still touch them";
  ASSERT_TRUE(busy.receive(60s));
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (runtime.metrics().arena_free_bytes <= free_before) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    Kernel next = runtime.launch("next", core).value();
    (void)next.terminate();
  }
  end(runtime);
}

/// With the patience of an hour.
TEST_P(BusyDevice, ACallerThatSpinsMakesRoomForTheEndOfTheKernel) {
  auto runtime = open({.spin_for = 1h});
  Kernel kernel = resting(runtime, "a");
  auto call =
      std::async(std::launch::async, [&] { return kernel.call(numbered(1), {.timeout = 2h}); });
  while (kernel.metrics().accepted == 0) std::this_thread::yield();
  EXPECT_TRUE(kernel.terminate());
  EXPECT_EQ(call.get().error(), Errc::kernel_terminated);
}

TEST_P(BusyDevice, SeesNothingOfAMessageWhoseTimeIsUp) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  for (const auto timeout : {std::chrono::nanoseconds(-1), std::chrono::nanoseconds::min()}) {
    EXPECT_EQ(kernel.call(numbered(1), {.timeout = timeout}).error(), Errc::deadline_exceeded);
    EXPECT_EQ(kernel.send(numbered(1), {.timeout = timeout}).error(), Errc::deadline_exceeded);
  }
  ASSERT_TRUE(kernel.call(numbered(2)));
  EXPECT_EQ(kernel.metrics().messages_in, 1u);
  Graph graph("g");
  graph.output(graph.add(ops::relu(graph.input({DType::f32, {1}}))));
  CompiledFunction function = runtime.compile(graph).value();
  EXPECT_EQ(function.execute(one, {.timeout = -1ns}).error(), Errc::deadline_exceeded);
}

}  // namespace
}  // namespace ringkernel::test
