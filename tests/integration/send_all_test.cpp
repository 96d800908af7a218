// Batches: one publication for as many messages as fit, the same promises as for single ones.
#include <gmock/gmock.h>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;

/// Messages with the numbers [first, first + count), and views of them.
struct Batch {
  std::vector<std::vector<std::byte>> messages;
  std::vector<Bytes> views;

  Batch(std::uint64_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) messages.push_back(numbered(first + i));
    for (const auto& message : messages) views.emplace_back(message);
  }
};

RK_ON_EACH_BACKEND(SendAll);

TEST_P(SendAll, KeepsTheOrderOverSeveralBatchesAndRings) {
  auto runtime = open();
  Kernel kernel =
      active(runtime, "a",
             {.program = "echo", .input_bytes = 4096, .output_bytes = 4096, .in_flight_max = 2048});
  constexpr std::size_t count = 1000;
  const Batch batch(0, count);
  EXPECT_EQ(kernel.send_all(batch.views).value(), count);
  for (std::uint64_t expected = 0; expected < count; ++expected)
    ASSERT_EQ(number_of(kernel.receive(10s).value()), expected);
  const KernelMetrics metrics = kernel.metrics();
  EXPECT_EQ(metrics.accepted, count);
  EXPECT_EQ(metrics.in_flight, 0u);
}

TEST_P(SendAll, TakesOpsOfDifferentShapes) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {.program = "core"});
  const std::vector<float> small{1, 2}, large{3, 4, 5, 6};
  const std::vector<Request> requests{ops::add(small, small), ops::mul(large, large),
                                      ops::add(small, small)};
  EXPECT_EQ(kernel.send_all(requests).value(), 3u);
  EXPECT_THAT(kernel.receive(10s).value().floats(), ::testing::ElementsAre(2, 4));
  EXPECT_THAT(kernel.receive(10s).value().floats(), ::testing::ElementsAre(9, 16, 25, 36));
  EXPECT_THAT(kernel.receive(10s).value().floats(), ::testing::ElementsAre(2, 4));
}

TEST_P(SendAll, StopsAtTheFirstMessageThatIsRefused) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {.program = "core"});
  const std::vector<float> two{1, 2}, three{1, 2, 3};
  const std::vector<Request> requests{ops::add(two, two), ops::add(two, three), ops::add(two, two)};
  EXPECT_EQ(kernel.send_all(requests).value(), 1u);
  const auto refused = kernel.send_all(std::span(requests).subspan(1));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error() == Errc::broadcast_failure) << refused.error().text();
  EXPECT_THAT(kernel.receive(10s).value().floats(), ::testing::ElementsAre(2, 4));
  EXPECT_EQ(kernel.metrics().in_flight, 0u) << "the slots of refused messages were kept";
}

TEST_P(SendAll, AFullQueueRefusesTheRestByThePolicy) {
  auto runtime = open();
  Kernel kernel = runtime
                      .launch("a", {.program = "echo",
                                    .in_flight_max = 5,
                                    .queue_max = 0,
                                    .backpressure = Backpressure::reject})
                      .value();
  const Batch batch(7, 8);
  EXPECT_EQ(kernel.send_all(batch.views).value(), 5u);
  const auto refused = kernel.send_all(batch.views);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error() == Errc::queue_full) << refused.error().text();
  ASSERT_TRUE(kernel.activate());
  for (std::uint64_t expected = 7; expected < 12; ++expected)
    EXPECT_EQ(number_of(kernel.receive(10s).value()), expected);
}

TEST_P(SendAll, OfNothingIsNothing) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {.program = "echo"});
  EXPECT_EQ(kernel.send_all(std::span<const Bytes>()).value(), 0u);
}

}  // namespace
}  // namespace ringkernel::test
