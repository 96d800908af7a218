// Messages of one ring kernel on a device that works when the test says so.
#include "runtime/calls/exchange.hpp"

#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ringkernel/ops.hpp"
#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::detail {
namespace {

using ::testing::HasSubstr;

/// Lets everything happen.
class IndifferentHost final : public LifecycleHost {
 public:
  std::shared_ptr<void> keep_alive() override { return std::make_shared<int>(); }
  void changed(KernelStatus) noexcept override {}
  void stopped(bool, const Result<void>&) override {}
  void ended() noexcept override {}
  std::string why_late() override { return {}; }
};

class ExchangeTest : public bridge::test::SimulatedBridge {
 protected:
  ExchangeTest() {
    device.runs_callers = true;
    open("echo", {});
  }

  /// A kernel of that program. The device answers with the request, whatever it is called.
  void open(const char* name, const bridge::ChannelLimits& limits, bool is_active = true) {
    exchange.reset();
    lifecycle.emplace(id, host, clock, std::chrono::seconds(1));
    program.emplace(name);
    program->begin({program::Definition::built_in(name), 1, nullptr});
    channel = make_channel(limits, false);
    lifecycle->place(executor, channel->kernel(), channel);
    lifecycle->launched();
    if (is_active) {
      EXPECT_TRUE(lifecycle->activate());
    }
    device.work();
    exchange.emplace(Exchange::Parts{.id = id,
                                     .channel = channel,
                                     .program = *program,
                                     .lifecycle = *lifecycle,
                                     .tensors = tensors,
                                     .clock = clock,
                                     .call_timeout = std::chrono::microseconds(3),
                                     .send_timeout = std::chrono::microseconds(2),
                                     .runs_on_caller = true,
                                     .runs_ops_on_caller = true});
  }
  static std::vector<std::byte> bytes(int value, std::size_t count = 8) {
    return std::vector<std::byte>(count, static_cast<std::byte>(value));
  }
  static int value_of(const Reply& reply) { return static_cast<int>(reply.bytes()[0]); }
  Result<MessageId> send(int value, const SendOptions& options = {}) {
    const std::vector<std::byte> content = bytes(value);
    return exchange->send(Bytes(content), options);
  }

  IndifferentHost host;
  const std::string id = "a";
  alignas(128) std::array<std::byte, 4096> tensor_bytes{};
  Arena tensor_arena{tensor_bytes.data(), tensor_bytes.size()};
  TensorTable tensors{tensor_arena, BackendTarget::cpu};
  std::optional<Lifecycle> lifecycle;
  std::optional<KernelProgram> program;
  std::shared_ptr<bridge::Channel> channel;
  std::optional<Exchange> exchange;
};

TEST_F(ExchangeTest, ACallIsAnsweredOnItsOwnThread) {
  EXPECT_TRUE(exchange->can_run_here());
  EXPECT_EQ(exchange->call_wake(), bridge::Executor::Wake::run_on_caller);
  for (int i = 1; i <= 3; ++i) {
    const Result<Reply> reply = exchange->call(Bytes(bytes(i)), {});
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(value_of(*reply), i);
    EXPECT_NE(reply->id(), 0u);
  }
}

TEST_F(ExchangeTest, RefusesWhatTheProgramDoesNotTake) {
  const std::array<float, 2> numbers{1, 2};
  const TensorView operand(TensorDesc{DType::f32, {2}}, numbers.data());
  EXPECT_EQ(exchange->call(ops::add(operand, operand), {}).error(), Errc::unsupported_operation);
  EXPECT_EQ(exchange->call(Message("Submit", {}), {}).error(), Errc::unsupported_operation);
  open("core", {});
  const Result<Reply> reply = exchange->call(Bytes(bytes(1)), {});
  EXPECT_FALSE(reply) << "no op";
  EXPECT_EQ(reply.error().message, 0u) << "nothing was sent";
}

TEST_F(ExchangeTest, AKernelThatWasNeverActiveHasNoReplies) {
  open("echo", {}, false);
  EXPECT_FALSE(exchange->can_run_here());
  EXPECT_EQ(exchange->call(Bytes(bytes(1)), {}).error(), Errc::invalid_state);
  EXPECT_TRUE(send(1)) << "which takes messages all the same";
}

TEST_F(ExchangeTest, ATimeoutBelowZeroIsOver) {
  const SendOptions late{.timeout = std::chrono::nanoseconds(-1)};
  EXPECT_EQ(exchange->call(Bytes(bytes(1)), late).error(), Errc::deadline_exceeded);
  EXPECT_EQ(send(1, late).error(), Errc::deadline_exceeded);
}

TEST_F(ExchangeTest, RepliesToWhatWasSentAreReceived) {
  const MessageId sent = send(4).value();
  settle(*channel);
  const Result<Reply> reply = exchange->receive({});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->id(), sent);
  EXPECT_EQ(value_of(*reply), 4);
}

TEST_F(ExchangeTest, AReceiverThatWaitsInVainGetsAnErrorOfNoMessage) {
  const Result<Reply> reply = exchange->receive({});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, 0u);
}

TEST_F(ExchangeTest, AnErrorNamesTheMessageThatEndedWithIt) {
  open("echo", {}, false);
  const MessageId sent = send(4).value();
  ASSERT_TRUE(lifecycle->terminate({}, lifecycle->terminated_reason()));
  const Result<Reply> reply = exchange->receive({});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error(), Errc::kernel_terminated);
  EXPECT_EQ(reply.error().message, sent);
}

TEST_F(ExchangeTest, ReceivesSeveralAtOnce) {
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(send(i));
  settle(*channel);
  std::vector<Result<Reply>> outcomes(5);
  ASSERT_EQ(exchange->receive_some(outcomes, {}).value(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(value_of(*outcomes[static_cast<std::size_t>(i)]), i + 1);
  EXPECT_EQ(exchange->receive_some({}, {}).value(), 0u);
}

TEST_F(ExchangeTest, SendsManyUpToTheFirstThatIsRefused) {
  const std::vector<std::byte> small = bytes(1);
  const Bytes huge(small.data(), std::size_t{ring_bytes_max} + 1);  // of which nothing is read
  const std::array<Bytes, 4> messages{small, small, huge, small};
  const auto content = [&](std::size_t i) { return ContentView(messages[i]); };
  EXPECT_EQ(exchange->send_all(4, content, {}).value(), 2u);
  const auto from_huge = [&](std::size_t i) { return ContentView(messages[i + 2]); };
  EXPECT_EQ(exchange->send_all(2, from_huge, {}).error(), Errc::message_too_large);
}

TEST_F(ExchangeTest, AFullKernelIsWaitedForUntilTheSendersPatienceEnds) {
  open("echo", {.in_flight_max = 1, .queue_max = 1}, false);
  clock.step_ns = 1000;
  ASSERT_TRUE(send(1));
  const Result<MessageId> second = send(2);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().detail, HasSubstr("kernel 'a' is launched")) << "why it is full";
}

TEST_F(ExchangeTest, AReplyThatIsNoTensorIsMalformedWhereOpsAreTaken) {
  open("core", {});
  const std::array<float, 2> numbers{1, 2};
  const TensorView operand(TensorDesc{DType::f32, {2}}, numbers.data());
  const Result<Reply> reply = exchange->call(ops::add(operand, operand), {});
  ASSERT_FALSE(reply) << "the request itself came back";
  EXPECT_NE(reply.error().message, 0u);
}

TEST_F(ExchangeTest, KnowsUntilWhenAMessageMayTake) {
  clock.now = 5000;
  EXPECT_EQ(exchange->deadline_ns({}, {}), bridge::no_deadline);
  EXPECT_EQ(exchange->deadline_ns({}, std::chrono::nanoseconds(70)), 5070u);
  EXPECT_EQ(exchange->deadline_ns({.timeout = std::chrono::nanoseconds(20)},
                                  std::chrono::nanoseconds(70)),
            5020u);
  EXPECT_EQ(exchange->patience({}).deadline_ns(clock.now), 7000u) << "send_timeout";
  EXPECT_EQ(exchange->patience({.timeout = std::chrono::nanoseconds(20)}).deadline_ns(clock.now),
            bridge::no_deadline)
      << "its own deadline bounds its wait";
}

TEST_F(ExchangeTest, TakesTheMethodsItsProgramHas) {
  program::Behaviour behaviour;
  behaviour.full_name = "trading.Book";
  behaviour.methods.emplace_back();
  behaviour.methods[0].name = "Submit";
  behaviour.methods[0].full_name = "trading.Book.Submit";
  behaviour.methods[0].id = 7;
  behaviour.methods[0].reply_bytes = 32;
  program.emplace("trading");
  program->begin({program::Definition::built_in("echo"), 1, &behaviour});
  PreparedMessage prepared;
  const std::vector<std::byte> request = bytes(1);
  ASSERT_TRUE(exchange->prepare(Message("Submit", request), {.priority = 3}, prepared));
  EXPECT_EQ(prepared.envelope.selector, 7u);
  EXPECT_EQ(prepared.envelope.reply_bytes, 32u);
  EXPECT_EQ(prepared.envelope.payload_bytes, 8u);
  EXPECT_EQ(prepared.envelope.priority, 3);
  EXPECT_EQ(exchange->prepare(Message("Sell", request), {}, prepared).error(),
            Errc::unknown_method);
  EXPECT_EQ(exchange->prepare(Bytes(request), {}, prepared).error(), Errc::unsupported_operation);
}

}  // namespace
}  // namespace ringkernel::detail
