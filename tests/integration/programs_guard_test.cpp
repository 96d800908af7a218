// Programs that are guarded: a handler that writes beyond its reply or its state is found.
#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "overruns_program.hpp"
#include "ringkernel/json.hpp"
#include "ringkernel/schema_text.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// In what it writes a byte, and where; `nowhere`: not at all.
struct Write {
  std::int32_t reply_at;
  std::int32_t state_at;
};
constexpr std::int32_t nowhere = 1000;
constexpr std::int32_t reply_bytes = 20;
constexpr std::int32_t state_bytes = 12;

ProgramDesc overruns(bool guard) {
  ProgramDesc program = overruns_program();
  program.guard = guard;
  return program;
}

class Guard : public OnEachBackend {
 public:
  static Result<Reply> call(Kernel& kernel, Write write) {
    return kernel.call(std::as_bytes(std::span(&write, 1)));
  }
  static std::string text_of(const Result<Reply>& reply) {
    return reply ? "a reply" : reply.error().text();
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, Guard, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(Guard, LooksAtBothSidesOfReplyAndState) {
  auto runtime = open();
  const auto added = runtime.add_program(overruns(true));
  ASSERT_TRUE(added) << added.error().text();
  struct Case {
    Write write;
    const char* what;
  };
  for (const Case& one :
       {Case{{reply_bytes, nowhere}, "beyond its reply;"}, Case{{-1, nowhere}, "beyond its reply;"},
        Case{{-64, nowhere}, "beyond its reply;"},
        Case{{reply_bytes + 63, nowhere}, "beyond its reply;"},
        Case{{nowhere, state_bytes}, "beyond its state;"},
        Case{{nowhere, state_bytes + 63}, "beyond its state;"},
        Case{{nowhere, -1}, "beyond its state;"},
        Case{{reply_bytes, state_bytes}, "beyond its reply and its state;"}}) {
    Kernel kernel = active(runtime, "a", {.program = "overruns"});
    ASSERT_TRUE(call(kernel, {0, 0}));
    const auto reply = call(kernel, one.write);
    ASSERT_FALSE(reply) << one.write.reply_at << ", " << one.write.state_at;
    EXPECT_EQ(reply.error(), Errc::program_overran);
    EXPECT_THAT(reply.error().text(), AllOf(HasSubstr("kernel 'a'"), HasSubstr(one.what)));
    EXPECT_EQ(kernel.status(), KernelStatus::failed);
    ASSERT_TRUE(kernel.terminate());
  }
}

TEST_P(Guard, FindsNothingWhereNothingIs) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(overruns(true)));
  Kernel kernel = active(runtime, "a", {.program = "overruns"});
  for (std::int32_t i = 0; i < 200; ++i) {
    const auto reply = call(kernel, {i % reply_bytes, i % state_bytes});
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->bytes().size(), static_cast<std::size_t>(reply_bytes));
    EXPECT_EQ(reply->bytes()[static_cast<std::size_t>(i % reply_bytes)], std::byte{0x77});
  }
  ASSERT_TRUE(kernel.deactivate());
  const auto state = kernel.read_state<std::array<std::uint8_t, state_bytes>>();
  ASSERT_TRUE(state) << state.error().text();
  EXPECT_THAT(*state, ::testing::Each(0x77));
}

TEST_P(Guard, OffDoesNotLook) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(overruns(false)));
  Kernel kernel = active(runtime, "a", {.program = "overruns"});
  const auto reply = call(kernel, {reply_bytes, state_bytes});
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->bytes().size(), static_cast<std::size_t>(reply_bytes));
}

TEST_P(Guard, IsOnByDefaultInDebugBuilds) {
#if defined(NDEBUG)
  EXPECT_FALSE(ProgramDesc{}.guard);
#else
  EXPECT_TRUE(ProgramDesc{}.guard);
#endif
  EXPECT_EQ(overruns_program().guard, ProgramDesc{}.guard);
}

/// Built at run time as well as by CMake.
TEST_P(Guard, StopsOneKernelOnlyAndItCanBeLaunchedAgain) {
  auto runtime = open();
  ProgramDesc program = overruns(true);
  program.compiled = nullptr;
  ASSERT_TRUE(runtime.add_program(program));
  Kernel kernel = active(runtime, "a", {.program = "overruns"});
  Kernel other = active(runtime, "b", {.program = "overruns"});
  EXPECT_EQ(call(kernel, {reply_bytes, nowhere}).error(), Errc::program_overran);
  EXPECT_TRUE(call(other, {1, 1}));
  const auto again = call(kernel, {1, 1});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error(), Errc::program_overran);
  EXPECT_THAT(again.error().text(), HasSubstr("with an earlier message; the kernel was stopped"));
  for (const auto& changed : {kernel.deactivate(), kernel.activate()}) {
    ASSERT_FALSE(changed);
    EXPECT_EQ(changed.error(), Errc::program_overran) << changed.error().text();
    EXPECT_THAT(changed.error().text(), HasSubstr("kernel 'a'"));
  }
  ASSERT_TRUE(kernel.terminate());
  Kernel relaunched = active(runtime, "a", {.program = "overruns"});
  EXPECT_TRUE(call(relaunched, {1, 1}));
  EXPECT_TRUE(call(other, {2, 2}));
}

TEST_P(Guard, EachMessageInFlightHasItsOutcome) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(overruns(true)));
  for (int round = 0; round < 20; ++round) {
    Kernel kernel = active(runtime, "a", {.program = "overruns"});
    for (const std::int32_t at : {0, 1, reply_bytes, 2, 3}) {
      const Write write{at, nowhere};
      // The last ones may come when the kernel was stopped already.
      const auto sent = kernel.send(std::as_bytes(std::span(&write, 1)));
      EXPECT_TRUE(sent || (at >= 2 && sent.error() == Errc::program_overran)) << at;
    }
    EXPECT_TRUE(kernel.receive(30s));
    EXPECT_TRUE(kernel.receive(30s));
    EXPECT_THAT(text_of(kernel.receive(30s)), HasSubstr("beyond its reply"));
    ASSERT_TRUE(kernel.terminate());
  }
}

/// Into the header of the reply before, too, which the host has not read yet perhaps: then its own
/// reply is out of reach, and is not waited for.
TEST_P(Guard, EndsMessagesWhoseRepliesItsHandlerHasSpoilt) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(overruns(true)));
  for (int round = 0; round < 20; ++round) {
    Kernel kernel = active(runtime, "a", {.program = "overruns"});
    constexpr std::int32_t before = -64 - 64 - 64;  // its header, and a reply with its header
    const std::array writes{Write{0, 0}, Write{1, 1}, Write{before, state_bytes}};
    std::vector<Bytes> messages;
    for (const Write& write : writes) messages.push_back(std::as_bytes(std::span(&write, 1)));
    ASSERT_EQ(kernel.send_all(messages).value(), messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const auto outcome = kernel.receive(30s);
      EXPECT_FALSE(!outcome && outcome.error() == Errc::deadline_exceeded) << i;
    }
    ASSERT_TRUE(kernel.terminate());
  }
}

/// Where there is no room for a guard behind a reply, it is not waited for.
TEST_P(Guard, NeedsNoRoomInTheRing) {
  auto runtime = open();
  ProgramDesc program = overruns(true);
  program.name = "large";
  program.reply_bytes = ring_bytes_min / 2 - 64;  // a record of half of the ring
  ASSERT_TRUE(runtime.add_program(program));
  Kernel kernel = active(runtime, "a",
                         {.program = "large",
                          .input_bytes = ring_bytes_min,
                          .output_bytes = ring_bytes_min,
                          .in_flight_max = 16});
  const Write write{0, 0};
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 8; ++i) ASSERT_TRUE(kernel.send(std::as_bytes(std::span(&write, 1))));
    for (int i = 0; i < 8; ++i) {
      const auto reply = kernel.receive(30s);
      ASSERT_TRUE(reply) << reply.error().text();
      EXPECT_EQ(reply->bytes().size(), program.reply_bytes);
    }
  }
}

TEST_P(Guard, ComesAndGoesWithTheProgram) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(overruns(false)));
  Kernel kernel = active(runtime, "a", {.program = "overruns"});
  EXPECT_TRUE(call(kernel, {reply_bytes, state_bytes}));
  ASSERT_TRUE(runtime.swap_program(overruns(true)));
  EXPECT_TRUE(call(kernel, {1, 1}));
  ASSERT_TRUE(runtime.swap_back("overruns"));
  EXPECT_TRUE(call(kernel, {reply_bytes, state_bytes}));
  ASSERT_TRUE(runtime.swap_program(overruns(true)));
  EXPECT_EQ(call(kernel, {nowhere, state_bytes}).error(), Errc::program_overran);
}

Schema kiosk_schema() {
  return schema_from_text("kiosk.fbs", R"(
namespace kiosk;
attribute "state_of";
attribute "max";
table Order { prices: uint; sums: uint; }
table Receipt { prices: [ulong] (max: 4); }
struct TillState (state_of: "Till") { sums: [ulong:4]; }
rpc_service Till { Sell(Order): Receipt; }
)")
      .value();
}

TEST_P(Guard, NamesTheMethodThatWritesOneElementTooMany) {
  auto runtime = open();
  const auto added = runtime.add_program({.name = "kiosk",
                                          .source = Source::text("kiosk.rk.cl", R"(
#include "kiosk.rk.h"
RK_ON(Till, Sell) {
  RK_LET prices = Receipt_put_prices(reply, Order_prices(request));
  for (rk_u32 i = 0; i < Order_prices(request); ++i) prices[i] = i;
  for (rk_u32 i = 0; i < Order_sums(request); ++i) state->sums[i] += i;
  return RK_OK;
}
)"),
                                          .schema = kiosk_schema(),
                                          .guard = true});
  ASSERT_TRUE(added) << added.error().text();
  JsonCodec codec = JsonCodec::open(kiosk_schema()).value();
  const auto sell = [&](const char* order) {
    Kernel kernel = active(runtime, "a", {.program = "kiosk"});
    const auto receipt = call_json(kernel, codec, "Sell", order);
    EXPECT_TRUE(kernel.terminate());
    return receipt ? *receipt : receipt.error().text();
  };
  EXPECT_EQ(sell(R"({"prices": 4, "sums": 4})"), R"({"prices": [0,1,2,3]})");
  EXPECT_THAT(sell(R"({"prices": 5, "sums": 4})"),
              AllOf(HasSubstr("program_overran"), HasSubstr("kernel 'a', kiosk.Till.Sell"),
                    HasSubstr("beyond its reply;"), Not(HasSubstr("and its state"))));
  EXPECT_THAT(sell(R"({"prices": 4, "sums": 5})"),
              AllOf(HasSubstr("kiosk.Till.Sell"), HasSubstr("beyond its state;")));
}

}  // namespace
}  // namespace ringkernel::test
