// Messages through the public API: what is refused before the ring, policies, priorities,
// deadlines.
#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "integration/sizes.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A ring of two messages, and two more places on the host.
KernelOptions tight(Backpressure backpressure) {
  return {.program = "echo",
          .input_bytes = 4096,
          .output_bytes = 16384,
          .queue_max = 2,
          .backpressure = backpressure};
}

/// The first bytes of the next outcomes that are replies.
std::vector<int> received(Kernel& kernel, int count) {
  std::vector<int> values;
  for (int i = 0; i < count; ++i) {
    const auto reply = kernel.receive(10s);
    values.push_back(reply ? static_cast<int>(reply->bytes()[0]) : -1);
  }
  return values;
}

RK_ON_EACH_BACKEND(Messages);

TEST_P(Messages, EveryLengthUpToTheMostComesBack) {
  auto runtime = open();
  Kernel kernel =
      active(runtime, "a", {.program = "echo", .input_bytes = 4096, .output_bytes = 4096});
  for (const std::size_t bytes : {0u, 1u, 7u, 63u, 64u, 65u, 1000u, 1984u}) {
    std::vector<std::byte> message(bytes);
    for (std::size_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>(i * 7 + 1);
    const auto reply = kernel.call(message);
    ASSERT_TRUE(reply) << bytes << ": " << reply.error().text();
    EXPECT_TRUE(
        std::equal(message.begin(), message.end(), reply->bytes().begin(), reply->bytes().end()))
        << bytes;
  }
}

TEST_P(Messages, TooLargeForEitherRingIsRefusedWithTheLimit) {
  auto runtime = open();
  Kernel small_input =
      active(runtime, "input", {.program = "echo", .input_bytes = 4096, .output_bytes = 16384});
  Kernel small_output =
      active(runtime, "output", {.program = "echo", .input_bytes = 16384, .output_bytes = 4096});
  for (Kernel* kernel : {&small_input, &small_output}) {
    const auto reply = kernel->call(plain(half_ring + 1));
    ASSERT_TRUE(reply.has_error());
    EXPECT_EQ(reply.error(), Errc::message_too_large);
    EXPECT_THAT(reply.error().detail, HasSubstr("1984"));
    EXPECT_EQ(kernel->metrics().accepted, 0u);
    EXPECT_TRUE(kernel->call(plain(half_ring)));
  }
}

TEST_P(Messages, OpsOnAPlainProgramAreRefused) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  const std::vector<float> x{1, 2};
  EXPECT_EQ(kernel.call(ops::add(x, x)).error(), Errc::unsupported_operation);
  EXPECT_EQ(kernel.send(ops::add(x, x)).error(), Errc::unsupported_operation);
  EXPECT_EQ(kernel.metrics().accepted, 0u);
}

TEST_P(Messages, AnOpsOwnErrorsComeBeforeTheRing) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {.program = "core"});
  const std::vector<float> two{1, 2};
  const std::vector<float> three{1, 2, 3};
  const auto reply = kernel.call(ops::add(two, three));
  ASSERT_TRUE(reply.has_error());
  EXPECT_EQ(reply.error(), Errc::broadcast_failure);
  EXPECT_THAT(reply.error().text(), HasSubstr("E3001"));
  EXPECT_EQ(kernel.send(ops::matmul(two, three)).error(), Errc::rank_mismatch);
  EXPECT_EQ(kernel.metrics().accepted, 0u);
}

TEST_P(Messages, ForeignBytesAreARequestOnAProgramOfOps) {
  std::ifstream file(RINGKERNEL_GOLDEN_DIR "/add16.request.bin", std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(chars.empty());
  const Bytes bytes(reinterpret_cast<const std::byte*>(chars.data()), chars.size());
  const Request request = Request::from_bytes(bytes).value();
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {.program = "core"});
  const Reply expected = kernel.call(request).value();
  const auto reply = kernel.call(bytes);
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->tensor().desc, expected.tensor().desc);
  EXPECT_TRUE(std::equal(expected.floats().begin(), expected.floats().end(),
                         reply->floats().begin(), reply->floats().end()));
  // Cut short, they are refused before the ring.
  const std::uint64_t accepted = kernel.metrics().accepted;
  EXPECT_TRUE(kernel.call(bytes.first(bytes.size() / 2)).has_error());
  EXPECT_EQ(kernel.call(Bytes()).error(), Errc::truncated_message);
  EXPECT_EQ(kernel.metrics().accepted, accepted);
}

TEST_P(Messages, RejectAnswersQueueFullAtOnce) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", tight(Backpressure::reject)).value();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(kernel.send(plain(half_ring, i)));
  const auto refused = kernel.send(plain(half_ring, 4));
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error(), Errc::queue_full);
  EXPECT_EQ(kernel.metrics().accepted, 4u);
  kernel.activate().value();
  EXPECT_THAT(received(kernel, 4), ElementsAre(0, 1, 2, 3));
}

TEST_P(Messages, DropNewestRefusesAndCountsTheNewOne) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", tight(Backpressure::drop_newest)).value();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(kernel.send(plain(half_ring, i)));
  EXPECT_EQ(kernel.send(plain(half_ring, 4)).error(), Errc::message_dropped);
  EXPECT_EQ(kernel.metrics().dropped, 1u);
  EXPECT_EQ(kernel.metrics().accepted, 4u);
  kernel.activate().value();
  EXPECT_THAT(received(kernel, 4), ElementsAre(0, 1, 2, 3));
}

TEST_P(Messages, DropOldestEndsTheOldestThatIsStillOnTheHost) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", tight(Backpressure::drop_oldest)).value();
  std::vector<MessageId> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(kernel.send(plain(half_ring, i)).value());
  const auto dropped = kernel.receive(10s);  // 0 and 1 are in the ring: out of reach
  ASSERT_TRUE(dropped.has_error());
  EXPECT_EQ(dropped.error(), Errc::message_dropped);
  EXPECT_EQ(dropped.error().message, ids[2]);
  EXPECT_EQ(kernel.metrics().dropped, 1u);
  EXPECT_EQ(kernel.metrics().failed, 1u);
  kernel.activate().value();
  EXPECT_THAT(received(kernel, 4), ElementsAre(0, 1, 3, 4));
}

TEST_P(Messages, BlockWaitsUntilTheTimeout) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", tight(Backpressure::block)).value();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(kernel.send(plain(half_ring, i)));
  const auto refused = kernel.send(plain(half_ring, 4), {.timeout = 20ms});
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error(), Errc::deadline_exceeded);
  EXPECT_EQ(refused.error().message, 0u);
  EXPECT_EQ(kernel.metrics().accepted, 4u);
}

TEST_P(Messages, BlockedSendersGoOnWhenThereIsRoom) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", tight(Backpressure::block)).value();
  constexpr int each = 50;
  std::vector<std::thread> senders;
  for (int sender = 0; sender < 4; ++sender)
    senders.emplace_back([kernel, sender]() mutable {
      for (int i = 0; i < each; ++i) ASSERT_TRUE(kernel.send(plain(half_ring, sender)));
    });
  kernel.activate().value();
  std::vector<int> counts(4);
  for (int i = 0; i < 4 * each; ++i) {
    const auto reply = kernel.receive(60s);
    ASSERT_TRUE(reply) << reply.error().text();
    ++counts[static_cast<std::size_t>(reply->bytes()[0])];
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_THAT(counts, ElementsAre(each, each, each, each));
}

// Nobody receives: the mailbox, not the ring, is what is full.
TEST_P(Messages, AFullMailboxHoldsSendersBack) {
  auto runtime = open();
  KernelOptions options{
      .program = "echo", .in_flight_max = 4, .backpressure = Backpressure::reject};
  Kernel rejecting = active(runtime, "rejecting", options);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(rejecting.send(numbered(i)));
  const auto refused = rejecting.send(numbered(4));
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error(), Errc::queue_full);
  EXPECT_THAT(refused.error().detail, HasSubstr("in-flight"));
  ASSERT_TRUE(rejecting.receive(10s));
  EXPECT_TRUE(rejecting.send(numbered(4)));

  options.backpressure = Backpressure::block;
  Kernel blocking = active(runtime, "blocking", options);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(blocking.send(numbered(i)));
  EXPECT_EQ(blocking.send(numbered(4), {.timeout = 10ms}).error(), Errc::deadline_exceeded);
  std::thread sender([blocking]() mutable { EXPECT_TRUE(blocking.send(numbered(4))); });
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(number_of(blocking.receive(60s).value()), i);
  sender.join();
}

TEST_P(Messages, PrioritiesOrderWhatIsStillOnTheHost) {
  auto runtime = open();
  KernelOptions options = tight(Backpressure::reject);
  options.queue_max = 16;
  Kernel kernel = runtime.launch("a", options).value();
  const auto send = [&](int value, int priority) {
    ASSERT_TRUE(kernel.send(plain(half_ring, value), {.priority = priority}));
  };
  send(0, 0);
  send(1, -9);  // in the ring as well: too late to be overtaken
  send(2, 0);
  send(3, 5);
  send(4, -1);
  send(5, 5);
  send(6, 0);
  kernel.activate().value();
  EXPECT_THAT(received(kernel, 7), ElementsAre(0, 1, 3, 5, 2, 6, 4));
}

TEST_P(Messages, AMessageWhoseTimeIsUpOnTheHostIsNotExecuted) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", tight(Backpressure::reject)).value();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(kernel.send(plain(half_ring, i)));
  const MessageId id = kernel.send(plain(half_ring, 2), {.timeout = 5ms}).value();
  const auto expired = kernel.receive(10s);
  ASSERT_TRUE(expired.has_error());
  EXPECT_EQ(expired.error(), Errc::deadline_exceeded);
  EXPECT_EQ(expired.error().message, id);
  ASSERT_TRUE(kernel.send(plain(half_ring, 3)));
  kernel.activate().value();
  EXPECT_THAT(received(kernel, 3), ElementsAre(0, 1, 3));
  const KernelMetrics metrics = kernel.metrics();
  EXPECT_EQ(metrics.messages_in, 3u);
  EXPECT_EQ(metrics.expired, 1u);
  EXPECT_EQ(metrics.late, 0u);
}

TEST_P(Messages, ALateReplyIsCountedAndThrownAway) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a");
  EXPECT_EQ(kernel.call(numbered(1), 5ms).error(), Errc::deadline_exceeded);  // it is in the ring
  kernel.activate().value();
  EXPECT_EQ(number_of(kernel.call(numbered(2)).value()), 2u);
  const KernelMetrics metrics = kernel.metrics();
  EXPECT_EQ(metrics.late, 1u);
  EXPECT_EQ(metrics.expired, 1u);
  EXPECT_EQ(metrics.accepted, 2u);
  EXPECT_EQ(metrics.replied, 1u);
  EXPECT_EQ(metrics.failed, 1u);
  EXPECT_EQ(metrics.in_flight, 0u);
}

// The deadline of a plain message holds although nobody looks at the mailbox.
TEST_P(Messages, ADeadlineNeedsNoReceiver) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a");
  const MessageId id = kernel.send(numbered(1), {.timeout = 5ms}).value();
  while (kernel.metrics().expired == 0) std::this_thread::sleep_for(1ms);
  kernel.activate().value();
  EXPECT_EQ(number_of(kernel.call(numbered(2)).value()), 2u);
  const auto expired = kernel.receive(10s);
  ASSERT_TRUE(expired.has_error());
  EXPECT_EQ(expired.error().message, id);
  EXPECT_EQ(kernel.metrics().late, 1u);
}

TEST_P(Messages, CallsAndPlainMessagesShareAKernelWithoutMixing) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  constexpr std::uint64_t each = 500;
  std::thread caller([kernel]() mutable {
    for (std::uint64_t i = 0; i < each; ++i)
      ASSERT_EQ(number_of(kernel.call(numbered(i)).value()), i);
  });
  std::thread receiver([kernel]() mutable {
    for (std::uint64_t i = 0; i < each; ++i)
      ASSERT_EQ(number_of(kernel.receive(60s).value()), 1'000'000 + i);
  });
  for (std::uint64_t i = 0; i < each; ++i) ASSERT_TRUE(kernel.send(numbered(1'000'000 + i)));
  caller.join();
  receiver.join();
}

TEST_P(Messages, AnOutputRingThatIsFullHoldsTheDeviceBackAndLosesNothing) {
  auto runtime = open();
  Kernel kernel =
      active(runtime, "a", {.program = "echo", .input_bytes = 64 * 1024, .output_bytes = 4096});
  for (std::uint64_t i = 0; i < 500; ++i) ASSERT_TRUE(kernel.send(numbered(i)));
  for (std::uint64_t i = 0; i < 500; ++i) ASSERT_EQ(number_of(kernel.receive(60s).value()), i);
}

}  // namespace
}  // namespace ringkernel::test
