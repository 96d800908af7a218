// The longest timeout is for ever, in every call that takes one: it neither overflows nor is over.
#include <array>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

constexpr std::chrono::nanoseconds for_ever = std::chrono::nanoseconds::max();

/// Every default is the longest too.
constexpr RuntimeOptions patient() {
  RuntimeOptions options;
  options.call_timeout = for_ever;
  options.termination_timeout = for_ever;
  return options;
}

class LongestTimeout : public OnEachBackend {
 protected:
  /// Does `wait` on a kernel that executes nothing until that many more messages are accepted, the
  /// last of which, or room for another, is waited for.
  template <class Wait>
  static void while_nothing_runs(Kernel& kernel, Wait&& wait, std::uint64_t messages = 1) {
    kernel.deactivate().value();
    const std::uint64_t accepted = kernel.metrics().accepted + messages;
    std::thread later([&kernel, accepted] {
      while (kernel.metrics().accepted < accepted) std::this_thread::yield();
      kernel.activate().value();
    });
    wait();
    later.join();
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, LongestTimeout, ::testing::ValuesIn(backend_names()),
                         backend_label);

TEST_P(LongestTimeout, OfMessages) {
  auto runtime = open(patient());
  Kernel kernel = active(runtime, "a");
  while_nothing_runs(kernel, [&] {
    const auto reply = kernel.call(numbered(1), {.timeout = for_ever});
    EXPECT_TRUE(reply) << reply.error().text();
  });
  while_nothing_runs(kernel, [&] { EXPECT_TRUE(kernel.call(numbered(2))); });
  while_nothing_runs(kernel, [&] {
    EXPECT_TRUE(kernel.send(numbered(3), {.timeout = for_ever}));
    const auto reply = kernel.receive(for_ever);
    EXPECT_TRUE(reply) << reply.error().text();
  });
  while_nothing_runs(kernel, [&] {
    EXPECT_TRUE(kernel.send(numbered(4), {.timeout = for_ever}));
    std::array<Result<Reply>, 1> outcomes{Reply()};
    const auto count = kernel.receive_some(outcomes, for_ever);
    ASSERT_TRUE(count) << count.error().text();
    EXPECT_TRUE(outcomes[0]);
  });
  EXPECT_TRUE(kernel.terminate({.drain = true, .timeout = for_ever}));
}

/// Two of the messages fill the ring and one the queue: the sender of the fourth waits for room.
TEST_P(LongestTimeout, OfAFullQueue) {
  constexpr int messages = 6;
  auto runtime = open(patient());
  Kernel kernel =
      active(runtime, "a",
             {.program = "echo", .input_bytes = 4096, .output_bytes = 16384, .queue_max = 1});
  while_nothing_runs(
      kernel,
      [&] {
        for (int i = 0; i < messages; ++i) {
          const auto sent = kernel.send(plain(1984, i), {.timeout = for_ever});
          EXPECT_TRUE(sent) << sent.error().text();
        }
      },
      3);
  for (int i = 0; i < messages; ++i) {
    const auto reply = kernel.receive(for_ever);
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->bytes()[0], static_cast<std::byte>(i));
  }
}

TEST_P(LongestTimeout, OfAsynchronousMessages) {
  auto runtime = open(patient());
  Kernel kernel = active(runtime, "a");
  const auto message = numbered(1);
  while_nothing_runs(kernel, [&] {
    FutureCode called, sent, received;
    kernel.async_call(Bytes(message), {.timeout = for_ever}, called.token());
    EXPECT_FALSE(called.get());
    kernel.async_send(Bytes(message), {.timeout = for_ever}, sent.token());
    EXPECT_FALSE(sent.get());
    kernel.async_receive(for_ever, received.token());
    EXPECT_FALSE(received.get());
  });
}

TEST_P(LongestTimeout, OfTensorsAndFunctions) {
  auto runtime = open(patient());
  const TensorDesc desc{DType::f32, {4}};
  std::array values{1.0f, 2.0f, 3.0f, 4.0f};
  auto tensor = runtime.allocate(desc).value();
  EXPECT_TRUE(tensor.write(values, for_ever));
  EXPECT_TRUE(tensor.read(std::span(values), for_ever));
  Graph graph("twice");
  const auto input = graph.input(desc);
  graph.output(graph.add(ops::add(input, input)));
  const auto function = runtime.compile(graph).value();
  const auto result = function.execute(values, {.timeout = for_ever});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->elements<float>()[1], 4);
  EXPECT_TRUE(runtime.shutdown());
}

}  // namespace
}  // namespace ringkernel::test
