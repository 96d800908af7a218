// InterruptScope: a thread that waits is asked whether it is to give up, and gives up.
#include <array>
#include <atomic>
#include <boost/asio/error.hpp>
#include <boost/asio/use_future.hpp>
#include <thread>

#include "integration/sizes.hpp"
#include "ringkernel/interrupt.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;

RK_ON_EACH_BACKEND(Interrupts);

const error_code interrupted_code = boost::asio::error::operation_aborted;

/// True when it has been asked three times, and counts.
std::atomic<int> times_asked{0};
bool gives_up_at_the_third() noexcept { return ++times_asked >= 3; }
bool counts_only() noexcept {
  ++times_asked;
  return false;
}

class GivingUp {
 public:
  GivingUp() { times_asked = 0; }
  ~GivingUp() { EXPECT_EQ(times_asked, 3) << "it gives up when it is told to, and not before"; }

 private:
  InterruptScope scope_{&gives_up_at_the_third};
};

TEST_P(Interrupts, EndACallThatWaitsForItsReply) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a");
  {
    const GivingUp giving_up;
    EXPECT_EQ(kernel.call(numbered(1)).error().code, interrupted_code);
  }
  EXPECT_EQ(kernel.metrics().cancelled, 1u);
  EXPECT_EQ(kernel.metrics().in_flight, 0u);
  // As after a cancellation: it is executed, and its reply is late.
  kernel.activate().value();
  EXPECT_EQ(number_of(kernel.call(numbered(2)).value()), 2u);
  EXPECT_EQ(kernel.metrics().late, 1u);
}

TEST_P(Interrupts, EndASendThatWaitsForRoom) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a", {.program = "echo", .in_flight_max = 1});
  ASSERT_TRUE(kernel.send(numbered(1)));
  {
    const GivingUp giving_up;
    EXPECT_EQ(kernel.send(numbered(2)).error().code, interrupted_code);
  }
  kernel.activate().value();
  EXPECT_EQ(number_of(kernel.receive(10s).value()), 1u);
  EXPECT_EQ(kernel.metrics().accepted, 1u);
  EXPECT_TRUE(kernel.send(numbered(3)));
}

TEST_P(Interrupts, EndAReceiverThatNobodyServes) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  const GivingUp giving_up;
  EXPECT_EQ(kernel.receive(1h).error().code, interrupted_code);
}

TEST_P(Interrupts, EndACopyOfATensorThatAMessageUses) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a", {});
  Tensor tensor = runtime.allocate({DType::f32, {4}}).value();
  ASSERT_TRUE(kernel.send(ops::relu(tensor).into(tensor)));
  std::vector<float> elements(4);
  {
    const GivingUp giving_up;
    EXPECT_EQ(tensor.read(elements).error().code, interrupted_code);
  }
  {
    const GivingUp giving_up;
    EXPECT_EQ(tensor.write(elements).error().code, interrupted_code);
  }
  kernel.activate().value();
  EXPECT_TRUE(kernel.receive(10s));
  EXPECT_TRUE(tensor.read(elements));
}

TEST_P(Interrupts, EndACopyOfStatesThatAMessageUses) {
  auto runtime = open();
  Graph graph("sum");
  const auto sum = graph.state({DType::f32, {4}}, "sum");
  const auto next = graph.add(ops::add(sum, graph.input({DType::f32, {4}})));
  graph.update(sum, next);
  graph.output(next);
  const CompiledFunction function = runtime.compile(graph).value();
  std::array elements{1.0f, 1.0f, 1.0f, 1.0f};
  ASSERT_TRUE(function.execute(elements));
  const std::string id = runtime.kernels().at(0);
  runtime.deactivate(id).value();
  auto result = function.async_execute(elements, boost::asio::use_future);
  {
    const GivingUp giving_up;
    EXPECT_EQ(function.read_state("sum", elements).error().code, interrupted_code);
  }
  {
    const GivingUp giving_up;
    EXPECT_EQ(function.write_state("sum", std::array{5.0f, 5.0f, 5.0f, 5.0f}).error().code,
              interrupted_code);
  }
  {
    const GivingUp giving_up;
    EXPECT_EQ(function.reset_states().error().code, interrupted_code);
  }
  runtime.activate(id).value();
  EXPECT_EQ(result.get().elements<float>()[3], 2.0f) << "nothing was written or reset";
  EXPECT_TRUE(function.read_state("sum", elements));
  EXPECT_EQ(elements[3], 2.0f);
}

TEST_P(Interrupts, LeaveWhoIsNotToldToGoWaiting) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a");
  times_asked = 0;
  std::atomic<bool> is_over = false;
  std::thread caller([&] {
    const InterruptScope scope(&counts_only);
    EXPECT_EQ(number_of(kernel.call(numbered(1)).value()), 1u);
    is_over = true;
  });
  while (times_asked < 3) std::this_thread::yield();
  EXPECT_FALSE(is_over);
  kernel.activate().value();
  caller.join();
  EXPECT_EQ(kernel.metrics().cancelled, 0u);
}

TEST_P(Interrupts, KeepTheDeadlineOfACall) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a");
  times_asked = 0;
  const InterruptScope scope(&counts_only);
  EXPECT_EQ(kernel.call(numbered(1), 70ms).error(), Errc::deadline_exceeded);
  EXPECT_GE(times_asked, 1);
  Kernel full = resting(runtime, "b", {.program = "echo", .in_flight_max = 1});
  ASSERT_TRUE(full.send(numbered(1)));
  EXPECT_EQ(full.send(numbered(2), {.timeout = 70ms}).error(), Errc::deadline_exceeded);
}

TEST(InterruptScopes, StandInsideEachOther) {
  EXPECT_EQ(InterruptScope::current(), nullptr);
  {
    const InterruptScope outer(&counts_only);
    {
      const InterruptScope inner(&gives_up_at_the_third);
      EXPECT_EQ(InterruptScope::current(), &gives_up_at_the_third);
      std::thread([] { EXPECT_EQ(InterruptScope::current(), nullptr); }).join();
    }
    EXPECT_EQ(InterruptScope::current(), &counts_only);
  }
  EXPECT_EQ(InterruptScope::current(), nullptr);
}

}  // namespace
}  // namespace ringkernel::test
