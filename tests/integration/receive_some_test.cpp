// Batches of outcomes: the same promises as for single ones.
#include <array>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;

RK_ON_EACH_BACKEND(ReceiveSome);

TEST_P(ReceiveSome, KeepsTheOrderAndNeverGivesMoreThanAskedFor) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {.program = "echo", .in_flight_max = 512});
  constexpr std::uint64_t count = 300;
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_TRUE(kernel.send(numbered(i)));
  std::array<Result<Reply>, 100> replies;
  std::uint64_t expected = 0;
  for (std::size_t room = 1; expected < count; room = room % replies.size() + 1) {
    const auto received = kernel.receive_some(std::span(replies).first(room), 10s);
    ASSERT_TRUE(received) << received.error().text();
    ASSERT_GE(*received, 1u);
    ASSERT_LE(*received, room);
    for (std::size_t i = 0; i < *received; ++i) {
      ASSERT_TRUE(replies[i]) << replies[i].error().text();
      ASSERT_EQ(number_of(*replies[i]), expected++);
    }
  }
  EXPECT_EQ(kernel.metrics().in_flight, 0u);
}

TEST_P(ReceiveSome, GivesErrorsInTheirPlaces) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {.program = "core"});
  const std::vector<float> x{1, 2, 3, 4};
  const std::vector<std::int32_t> rows{7};  // there are two
  ASSERT_TRUE(kernel.send(ops::relu(x)));
  const MessageId bad = kernel.send(ops::gather({{2, 2}, x}, rows)).value();
  ASSERT_TRUE(kernel.send(ops::neg(x)));
  std::vector<Result<Reply>> outcomes;
  while (outcomes.size() < 3) {
    std::array<Result<Reply>, 3> some;
    const std::size_t count = kernel.receive_some(some, 10s).value();
    for (std::size_t i = 0; i < count; ++i) outcomes.push_back(std::move(some[i]));
  }
  EXPECT_EQ(outcomes[0].value().floats()[3], 4.0f);
  ASSERT_FALSE(outcomes[1]);
  EXPECT_TRUE(outcomes[1].error() == Errc::out_of_bounds) << outcomes[1].error().text();
  EXPECT_EQ(outcomes[1].error().message, bad);
  EXPECT_EQ(outcomes[2].value().floats()[3], -4.0f);
}

TEST_P(ReceiveSome, SaysWhyThereIsNothing) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  std::array<Result<Reply>, 2> replies;
  EXPECT_TRUE(kernel.receive_some(replies, 1ms).error() == Errc::deadline_exceeded);
  EXPECT_EQ(kernel.receive_some(std::span(replies).first(0), 10s).value(), 0u);
  ASSERT_TRUE(kernel.send(numbered(1)));
  ASSERT_TRUE(kernel.terminate({.drain = true}));
  EXPECT_EQ(kernel.receive_some(replies, 10s).value(), 1u);
  EXPECT_EQ(number_of(replies[0].value()), 1u);
  EXPECT_TRUE(kernel.receive_some(replies, 10s).error() == Errc::kernel_terminated);
  EXPECT_TRUE(Kernel().receive_some(replies, 10s).error() == Errc::kernel_not_found);
}

// A sender that waits for room is woken by a batch that is received, as by a single message.
TEST_P(ReceiveSome, MakesRoomForThoseWhoWait) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {.program = "echo", .in_flight_max = 4, .queue_max = 1});
  constexpr std::uint64_t count = 2000;
  std::thread sender([&] {
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_TRUE(kernel.send(numbered(i), {.timeout = 30s}));
  });
  std::array<Result<Reply>, 4> replies;
  std::uint64_t expected = 0;
  while (expected < count) {
    const auto received = kernel.receive_some(replies, 30s);
    ASSERT_TRUE(received) << received.error().text();
    for (std::size_t i = 0; i < *received; ++i) EXPECT_EQ(number_of(*replies[i]), expected++);
  }
  sender.join();
}

}  // namespace
}  // namespace ringkernel::test
