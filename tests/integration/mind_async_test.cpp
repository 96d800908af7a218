// Asynchronous ops, queues, and contexts that fail and come back.
#include <gmock/gmock.h>

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "ringkernel/mind_runtime.hpp"
#include "support/backends.hpp"
#include "support/mind.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using boost::asio::use_future;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(MindAsync);

constexpr OpOptions first_queue{.queue = 0};
constexpr OpOptions second_queue{.queue = 1};

TEST_P(MindAsync, CompletesOnTheHandlersExecutorAndNotInside) {
  auto runtime = open_mind(GetParam());
  const Tensor x = filled(runtime, {4}, {-1, 2, -3, 4});
  boost::asio::io_context io;
  bool called = false;
  runtime.run_op_async("relu", x, x, {}, boost::asio::bind_executor(io, [&](error_code error) {
                         EXPECT_FALSE(error);
                         called = true;
                       }));
  EXPECT_FALSE(called);
  io.run();
  EXPECT_TRUE(called);
  EXPECT_THAT(contents(runtime, x), ElementsAre(0, 2, 0, 4));
}

// It costs what one costs that somebody waits for: no other thread has to wake up. The first op of
// a runtime, because one that lost its core passes for a long one.
TEST(MindAsyncNatively, AShortOpHasEndedWhenItWasGiven) {
  for (int round = 0; round < 20; ++round) {
    auto runtime = open_mind("native", {.runtime = {.transfer = Transfer::zero_copy}});
    const Tensor x = filled(runtime, {4}, {-1, 2, -3, 4});
    boost::asio::io_context io;
    const auto work = boost::asio::make_work_guard(io);
    runtime.run_op_async("relu", x, x, {}, boost::asio::bind_executor(io, [](error_code) {}));
    EXPECT_EQ(io.poll(), 1u) << "round " << round;
    EXPECT_THAT(contents(runtime, x), ElementsAre(0, 2, 0, 4));
  }
}

// Else giving ops would be waiting for them.
TEST(MindAsyncNatively, LongOpsRunBesideTheThreadThatGivesThem) {
  auto runtime = open_mind("native", {.runtime = {.transfer = Transfer::zero_copy}});
  constexpr std::int64_t side = 512;
  const Tensor a = runtime.allocate({DType::f32, {side, side}}).value();
  const Tensor b = runtime.allocate({DType::f32, {side, side}}).value();
  boost::asio::io_context io;
  const auto work = boost::asio::make_work_guard(io);
  constexpr int ops = 12;  // one that is found to be long, and others of those that follow it
  int unfinished = 0;
  for (int op = 0; op < ops; ++op) {
    runtime.run_op_async("matmul", {a, a}, b, {},
                         boost::asio::bind_executor(io, [](error_code) {}));
    if (io.poll() != 0) continue;
    ++unfinished;
    io.run_one();
  }
  // All but the first, unless this thread lost its core for as long as one takes.
  EXPECT_GT(unfinished, ops / 2);
}

TEST_P(MindAsync, WaitsForEverForTheLongestTimeout) {
  constexpr auto for_ever = std::chrono::nanoseconds::max();
  auto runtime = open_mind(GetParam());
  const Tensor x = filled(runtime, {4}, {0, 0, 0, 0});
  const Tensor one = filled(runtime, {4}, {1, 1, 1, 1});
  std::array<float, 4> sums{};
  for (int round = 1; round <= 50; ++round) {
    runtime.run_op_async("add", {x, one}, x, {.timeout = for_ever}, boost::asio::detached);
    if (round % 2 == 0) {
      EXPECT_TRUE(runtime.synchronize(for_ever));
    }
    EXPECT_TRUE(runtime.read(x, sums, for_ever));
    EXPECT_EQ(sums[0], static_cast<float>(round));
  }
}

TEST_P(MindAsync, ToldOfARefusalLikeOfAnyOtherEnd) {
  auto runtime = open_mind(GetParam());
  const Tensor x = filled(runtime, {4}, {1, 2, 3, 4});
  boost::asio::io_context io;
  error_code code;
  runtime.run_op_async("frobnicate", x, x, {},
                       boost::asio::bind_executor(io, [&](error_code error) { code = error; }));
  EXPECT_FALSE(code);
  io.run();
  EXPECT_EQ(code, make_error_code(Errc::unsupported_operation));
  const Result<void> done = runtime.synchronize();
  ASSERT_TRUE(done.has_error());
  EXPECT_THAT(done.error().text(), HasSubstr("'frobnicate'"));
  EXPECT_TRUE(runtime.synchronize()) << "told once";
}

/// x and y are handed back and forth between the queues: any overtaking changes the numbers.
TEST_P(MindAsync, KeepsTheOrderOfOpsOnDifferentQueues) {
  constexpr std::uint32_t many = 65536;  // ops take longer than giving them: the queues fill
  auto runtime = open_mind(GetParam());
  const Tensor one = filled(runtime, {many}, std::vector<float>(many, 1));
  const Tensor two = filled(runtime, {many}, std::vector<float>(many, 2));
  const Tensor x = runtime.allocate({DType::f32, {many}}).value();
  const Tensor y = runtime.allocate({DType::f32, {many}}).value();
  float expected_x = 0, expected_y = 0;
  for (int i = 0; i < 20; ++i) {
    runtime.run_op_async("add", {x, one}, x, first_queue, boost::asio::detached);
    runtime.run_op_async("add", {x, y}, y, second_queue, boost::asio::detached);
    runtime.run_op_async("mul", {y, two}, x, first_queue, boost::asio::detached);
    runtime.run_op_async("sub", {x, y}, y, second_queue, boost::asio::detached);
    runtime.run_op_async("sub", {x, y}, x, second_queue, boost::asio::detached);
    runtime.run_op_async("sub", {x, x}, y, first_queue, boost::asio::detached);
    expected_x += 1;
    expected_y += expected_x;
    expected_x = expected_y * 2;
    expected_y = expected_x - expected_y;
    expected_x -= expected_y;
    expected_y = 0;
  }
  EXPECT_THAT(contents(runtime, x), Each(expected_x));
  EXPECT_THAT(contents(runtime, y), Each(expected_y));
  EXPECT_TRUE(runtime.synchronize());
}

TEST_P(MindAsync, SynchronousOpsStandBehindAsynchronousOnes) {
  auto runtime = open_mind(GetParam());
  const Tensor x = filled(runtime, {1024}, std::vector<float>(1024, 1));
  for (int i = 0; i < 5; ++i) {
    runtime.run_op_async("add", {x, x}, x, first_queue, boost::asio::detached);
    EXPECT_TRUE(runtime.run_op("add", {x, x}, x, second_queue));
  }
  EXPECT_THAT(contents(runtime, x), Each(1024.0f));
}

TEST_P(MindAsync, AWriteWaitsForOpsThatAreGivenAndNotYetHandedOut) {
  auto runtime = open_mind(GetParam());
  const Tensor big = filled(runtime, {512, 512}, std::vector<float>(512 * 512, 1));
  const Tensor x = filled(runtime, {512, 512}, std::vector<float>(512 * 512, 1));
  const Tensor out = runtime.allocate({DType::f32, {512, 512}}).value();
  runtime.run_op_async("matmul", {big, big}, out, first_queue, boost::asio::detached);
  runtime.run_op_async("add", {x, out}, out, second_queue,
                       boost::asio::detached);  // waits for matmul
  EXPECT_TRUE(runtime.write(x, std::vector<float>(512 * 512, 1000)));
  EXPECT_THAT(contents(runtime, out), Each(513.0f));
}

TEST_P(MindAsync, AnErrorDoesNotHangThoseBehindIt) {
  auto runtime = open_mind(GetParam());
  const Tensor x = filled(runtime, {4}, {1, 2, 3, 4});
  const Tensor indices = runtime.allocate({DType::i32, {4}}).value();
  runtime.write(indices, std::array<std::int32_t, 4>{0, 1, 2, 9}).value();
  const Tensor out = filled(runtime, {4}, {7, 8, 9, 10});
  const Tensor sum = runtime.allocate({DType::f32, {4}}).value();
  auto gathered = runtime.run_op_async("gather", {x, indices}, out, first_queue, use_future);
  auto added = runtime.run_op_async("add", {x, out}, sum, second_queue, use_future);
  EXPECT_THROW(gathered.get(), boost::system::system_error);
  added.get();
  EXPECT_THAT(contents(runtime, sum), ElementsAre(8, 10, 12, 14)) << "the output was left alone";
  const Result<void> done = runtime.synchronize();
  ASSERT_TRUE(done.has_error());
  EXPECT_EQ(done.error(), Errc::out_of_bounds);
  EXPECT_THAT(done.error().detail, HasSubstr("gather(f32[4], i32[4])"));
  EXPECT_TRUE(runtime.health());
}

TEST_P(MindAsync, TensorsOutliveTheirHandlesUntilTheOpsHaveEnded) {
  auto runtime = open_mind(GetParam());
  const Tensor big = filled(runtime, {256, 256}, std::vector<float>(256 * 256, 1));
  const Tensor out = runtime.allocate({DType::f32, {256, 256}}).value();
  {
    const Tensor between = runtime.allocate({DType::f32, {256, 256}}).value();
    runtime.run_op_async("matmul", {big, big}, between, first_queue, boost::asio::detached);
    runtime.run_op_async("add", {between, between}, out, second_queue, boost::asio::detached);
  }
  EXPECT_THAT(contents(runtime, out), Each(512.0f));
  runtime.synchronize().value();
  EXPECT_EQ(runtime.metrics().tensors, 2u);
}

TEST_P(MindAsync, TheDestructorEndsWhatIsUnfinished) {
  std::future<Result<void>> running, waiting;
  {
    auto runtime = open_mind(GetParam());
    const Tensor x = runtime.allocate({DType::f32, {512, 512}}).value();
    const Tensor out = runtime.allocate({DType::f32, {512, 512}}).value();
    for (int i = 0; i < 20; ++i)
      running = runtime.run_op_async("matmul", {x, x}, out, first_queue, as_result(use_future));
    waiting = runtime.run_op_async("relu", out, x, second_queue, as_result(use_future));
  }
  EXPECT_EQ(running.get().error(), Errc::runtime_closed);
  EXPECT_EQ(waiting.get().error().text(),
            "runtime_closed: the runtime was shut down: relu(f32[512, 512])");
}

// --- poisoned contexts ------------------------------------------------------------------------

/// A product of two of these takes far longer than it is given, which is more than a device needs
/// to begin with it.
TensorDesc long_square(MindRuntime& runtime, std::uint32_t longest = 3072) {
  const std::uint32_t side = long_side(runtime, longest);
  return {DType::f32, {side, side}};
}
constexpr OpOptions too_short{.queue = 0, .timeout = 100ms};

/// A device that is to have too little time to return runs its ops to their end.
std::chrono::nanoseconds turn_for(std::chrono::nanoseconds termination_timeout) {
  return termination_timeout < 60s ? 0ns : RuntimeOptions().turn_for;
}

/// A context whose op took too long: `out` was being written, `x` was not.
struct Poisoned {
  explicit Poisoned(const char* backend, std::chrono::nanoseconds termination_timeout = 60s,
                    std::uint32_t side = 3072)
      : runtime(open_mind(backend, {.runtime = {.arena_bytes = 512 << 20,
                                                .turn_for = turn_for(termination_timeout),
                                                .termination_timeout = termination_timeout}})),
        square(long_square(runtime, side)),
        x(runtime.allocate(square).value()),
        out(runtime.allocate(square).value()),
        small(filled(runtime, {4}, {1, 2, 3, 4})) {
    // Not run_op: natively it would run the op on this thread, and be there for its end.
    runtime.run_op_async("matmul", {x, x}, out, too_short, boost::asio::detached);
    error = runtime.synchronize().error();
  }

  MindRuntime runtime;
  TensorDesc square;
  Tensor x, out, small;
  Error error;
};

TEST_P(MindAsync, AnOpThatTakesTooLongIsE6007AndPoisonsTheContext) {
  Poisoned context(GetParam());
  EXPECT_EQ(context.error, Errc::execution_timeout) << context.error.text();
  EXPECT_THAT(context.error.detail,
              HasSubstr("matmul(" + context.square.text() + ", " + context.square.text() + ")"));
  MindRuntime& runtime = context.runtime;
  const Result<void> refused = runtime.run_op("relu", context.small, context.small);
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error(), Errc::device_error);
  EXPECT_THAT(refused.error().text(), AllOf(HasSubstr("E6008"), HasSubstr("E6007")));
  EXPECT_EQ(runtime.health().error(), Errc::device_error);
  EXPECT_EQ(runtime.synchronize().error(), Errc::device_error);
  auto async = runtime.run_op_async("relu", context.small, context.small, {}, use_future);
  EXPECT_THROW(async.get(), boost::system::system_error);
  EXPECT_THAT(contents(runtime, context.small), ElementsAre(1, 2, 3, 4)) << "nothing ran";
}

/// Natively too, where the calling thread would run the op itself, and be there for its end.
TEST_P(MindAsync, AnOpThatIsWaitedForKeepsItsTimeout) {
  auto runtime = open_mind(
      GetParam(),
      {.runtime = {.arena_bytes = 512 << 20, .termination_timeout = 60s}, .op_timeout = 100ms});
  const TensorDesc square = long_square(runtime);
  const Tensor x = runtime.allocate(square).value();
  const Tensor out = runtime.allocate(square).value();
  EXPECT_EQ(runtime.run_op("matmul", {x, x}, out).error(), Errc::execution_timeout);
  runtime.recover().value();
}

TEST_P(MindAsync, RecoverKeepsWhatIsIntactAndNothingElse) {
  Poisoned context(GetParam());
  MindRuntime& runtime = context.runtime;
  runtime.recover().value();
  EXPECT_TRUE(runtime.health());
  EXPECT_TRUE(runtime.recover()) << "nothing to do";
  EXPECT_EQ(runtime.run_op("relu", context.small, context.out).error(), Errc::dimension_mismatch);
  std::vector<float> elements(context.square.element_count());
  EXPECT_EQ(runtime.read(context.out, elements).error(), Errc::tensor_not_found);
  EXPECT_EQ(runtime.run_op("relu", context.x, context.out).error(), Errc::tensor_not_found);
  EXPECT_TRUE(runtime.run_op("add", {context.small, context.small}, context.small));
  EXPECT_THAT(contents(runtime, context.small), ElementsAre(2, 4, 6, 8));
  EXPECT_TRUE(runtime.write(context.x, elements, 10s)) << "the device has let go of the operand";
}

TEST_P(MindAsync, AnOpThatWaitsForOneThatFailsEndsAndIsNeverRun) {
  auto runtime = open_mind(GetParam(), {.runtime = {.termination_timeout = 60s}});
  const TensorDesc square = long_square(runtime);
  const Tensor x = runtime.allocate(square).value();
  const Tensor out = runtime.allocate(square).value();
  const Tensor kept = filled(runtime, {4}, {1, 2, 3, 4});
  auto slow = runtime.run_op_async("matmul", {x, x}, out, too_short, use_future);
  auto waiting = runtime.run_op_async("copy", out, x, second_queue, use_future);
  auto behind = runtime.run_op_async("add", {x, x}, x, second_queue, use_future);
  EXPECT_THROW(slow.get(), boost::system::system_error);
  EXPECT_THROW(waiting.get(), boost::system::system_error);
  EXPECT_THROW(behind.get(), boost::system::system_error);
  EXPECT_EQ(runtime.synchronize().error(), Errc::execution_timeout) << "the first one";
  runtime.recover().value();
  std::vector<float> elements(square.element_count(), 1);
  EXPECT_TRUE(runtime.read(x, elements)) << "what never ran has written nothing";
  EXPECT_TRUE(std::ranges::all_of(elements, [](float element) { return element == 0; }));
  EXPECT_EQ(runtime.read(out, elements).error(), Errc::tensor_not_found);
  EXPECT_TRUE(runtime.run_op("relu", kept, kept));
}

TEST_P(MindAsync, RecoverOfADeviceThatHasNotReturnedIsE6007AndWorksLater) {
  // Longer than a termination may wait, sliced, for counters that come behind the op.
  Poisoned context(GetParam(), 1ms, 5120);
  MindRuntime& runtime = context.runtime;
  Result<void> recovered = runtime.recover();
  ASSERT_TRUE(recovered.has_error());
  EXPECT_EQ(recovered.error(), Errc::execution_timeout);
  EXPECT_EQ(runtime.health().error(), Errc::device_error) << "still poisoned";
  while (!recovered) recovered = runtime.recover();
  EXPECT_TRUE(runtime.run_op("relu", context.small, context.small));
}

}  // namespace
}  // namespace ringkernel::test
