// A program with a state in the place of one that had none, and the way back.
#include <flatbuffers/flatbuffers.h>
#include <gmock/gmock.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "ringkernel/schema_text.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;

/// Answers with its message's number; with a state, with the sum of all.
ProgramDesc meter(bool has_state) {
  const std::string schema =
      "namespace meters;\nattribute \"state_of\";\n"
      "table Add { amount: ulong; }\ntable Sum { sum: ulong; }\n";
  const std::string state =
      "struct MeterState (state_of: \"Meter\") { sum: ulong; messages: ulong; }\n";
  const char* const without =
      "#include \"meter.rk.h\"\n"
      "RK_ON(Meter, Put) { reply->sum = Add_amount(request); return RK_OK; }\n";
  const char* const with =
      "#include \"meter.rk.h\"\n"
      "RK_ON(Meter, Put) {\n"
      "  state->messages += 1;\n"
      "  reply->sum = state->sum += Add_amount(request);\n"
      "  return RK_OK;\n"
      "}\n";
  return {.name = "meter",
          .source = Source::text("meter.rk.cl", has_state ? with : without),
          .schema = schema_from_text("meter.fbs", schema + (has_state ? state : "") +
                                                      "rpc_service Meter { Put(Add): Sum; }\n")
                        .value()};
}

struct MeterState {
  std::uint64_t sum;
  std::uint64_t messages;
  bool operator==(const MeterState&) const = default;
};

class Add {
 public:
  explicit Add(std::uint64_t amount) {
    const auto start = builder_.StartTable();
    builder_.AddElement<std::uint64_t>(4, amount, 0);
    builder_.Finish(flatbuffers::Offset<flatbuffers::Table>(builder_.EndTable(start)));
  }
  [[nodiscard]] Bytes bytes() const {
    return {reinterpret_cast<const std::byte*>(builder_.GetBufferPointer()), builder_.GetSize()};
  }

 private:
  flatbuffers::FlatBufferBuilder builder_;
};

class NewState : public OnEachBackend {
 public:
  static RingKernelRuntime open_meter() {
    auto runtime = open_on(GetParam()).value();
    runtime.add_program(meter(false)).value();
    return runtime;
  }
  static std::uint64_t put(Kernel& kernel, std::uint64_t amount) {
    const Add add(amount);
    const auto reply = kernel.call(Message{kernel.method("Put").value(), add.bytes()});
    EXPECT_TRUE(reply) << reply.error().text();
    if (!reply) return 0;
    const auto* const table = flatbuffers::GetRoot<flatbuffers::Table>(
        reinterpret_cast<const std::uint8_t*>(reply->bytes().data()));
    return table->GetField<std::uint64_t>(4, 0);
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, NewState, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(NewState, BeginsAsZerosWhateverItsKernelDoes) {
  auto runtime = open_meter();
  Kernel busy = active(runtime, "busy", {.program = "meter"});
  Kernel resting = OnEachBackend::resting(runtime, "resting", {.program = "meter"});
  Kernel fresh = runtime.launch("fresh", {.program = "meter"}).value();
  EXPECT_EQ(put(busy, 3), 3u);
  EXPECT_EQ(put(busy, 3), 3u);
  const auto swapped = runtime.swap_program(meter(true));
  ASSERT_TRUE(swapped) << swapped.error().text();
  EXPECT_EQ(swapped->migrated, 3u);
  EXPECT_EQ(put(busy, 3), 3u);
  EXPECT_EQ(put(busy, 4), 7u);
  EXPECT_EQ(fresh.read_state<MeterState>().value(), (MeterState{0, 0}));
  EXPECT_EQ(resting.read_state<MeterState>().value(), (MeterState{0, 0}));
  ASSERT_TRUE(resting.write_state(MeterState{100, 1}));
  ASSERT_TRUE(resting.activate());
  EXPECT_EQ(put(resting, 1), 101u);
  Kernel later = active(runtime, "later", {.program = "meter"});
  EXPECT_EQ(put(later, 1), 1u);
}

TEST_P(NewState, IsDroppedOnTheWayBackAndOnlyThere) {
  auto runtime = open_meter();
  Kernel kernel = active(runtime, "a", {.program = "meter"});
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(runtime.swap_program(meter(true)));
    EXPECT_EQ(put(kernel, 3), 3u) << "the state of the round before";
    EXPECT_EQ(put(kernel, 3), 6u);
    const auto refused = runtime.swap_program(meter(false));
    EXPECT_EQ(refused.error(), Errc::incompatible_program);
    EXPECT_THAT(refused.error().text(), HasSubstr("meters.Meter has no state any more"));
    Kernel other = active(runtime, "b", {.program = "meter"});
    EXPECT_EQ(put(other, 5), 5u);
    const auto back = runtime.swap_back("meter");
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(put(kernel, 3), 3u);
    EXPECT_EQ(put(kernel, 3), 3u);
    ASSERT_TRUE(kernel.deactivate());
    EXPECT_EQ(kernel.read_state<MeterState>().error(), Errc::invalid_argument);
    ASSERT_TRUE(kernel.activate());
    ASSERT_TRUE(other.terminate());
  }
}

TEST_P(NewState, WithoutASchemaItIsTheSame) {
  auto runtime = open();
  const auto program = [](std::uint32_t kept_bytes) {
    return ProgramDesc{.name = "count",
                       .source = Source::text("count.rk.cl",
                                              "RK_ON_BYTES {\n"
                                              "  rk_reply_bytes(self)[0] = " +
                                                  std::string(kept_bytes != 0 ? "++*state" : "9") +
                                                  ";\n  return RK_OK;\n}\n"),
                       .state_bytes = kept_bytes,
                       .reply_bytes = 1};
  };
  ASSERT_TRUE(runtime.add_program(program(0)));
  Kernel kernel = active(runtime, "a", {.program = "count"});
  const auto count = [&] { return static_cast<int>(kernel.call(plain(1)).value().bytes()[0]); };
  EXPECT_EQ(count(), 9);
  const auto swapped = runtime.swap_program(program(1));
  ASSERT_TRUE(swapped) << swapped.error().text();
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(runtime.swap_program(program(8)).error(), Errc::incompatible_program);
  ASSERT_TRUE(runtime.swap_back("count"));
  EXPECT_EQ(count(), 9);
}

TEST_P(NewState, ASchemaIsNotGivenToAProgramOfBytes) {
  auto runtime = open();
  ASSERT_TRUE(
      runtime.add_program({.name = "meter",
                           .source = Source::text("bytes.rk.cl", "RK_ON_BYTES { return RK_OK; }\n"),
                           .state_bytes = 8,
                           .reply_bytes = 8}));
  const auto swapped = runtime.swap_program(meter(true));
  ASSERT_FALSE(swapped);
  EXPECT_EQ(swapped.error(), Errc::incompatible_program);
  EXPECT_THAT(swapped.error().text(), HasSubstr("it has a schema, and before it had none"));
}

/// Each message that the new program answers is in the new state, and no other.
TEST_P(NewState, UnderLoadNothingIsLost) {
  const Add one(1);
  for (int round = 0; round < 10; ++round) {
    auto runtime = open_meter();
    Kernel kernel = active(runtime, "a", {.program = "meter"});
    const Message message{kernel.method("Put").value(), one.bytes()};
    std::atomic<bool> swapped{false};
    std::atomic<bool> is_over{false};
    std::uint64_t answered = 0;  // by the new one
    std::string wrong;
    std::thread sender([&] {
      for (int behind = 0; behind < 50 && wrong.empty(); behind += swapped ? 1 : 0) {
        constexpr int batch = 4;  // so that messages wait in the ring
        for (int i = 0; i < batch && wrong.empty(); ++i)
          if (const auto id = kernel.send(message); !id) wrong = id.error().text();
        for (int i = 0; i < batch && wrong.empty(); ++i) {
          const auto reply = kernel.receive(std::chrono::seconds(30));
          if (!reply) wrong = reply.error().text();
          if (reply && reply->version() == 2) ++answered;
        }
      }
      is_over = true;
    });
    while (kernel.metrics().replied < 20 && !is_over) std::this_thread::yield();
    const auto result = runtime.swap_program(meter(true));
    swapped = true;
    sender.join();
    ASSERT_TRUE(result) << result.error().text();
    ASSERT_EQ(wrong, "");
    EXPECT_GE(answered, 50u);
    ASSERT_TRUE(kernel.deactivate());
    EXPECT_EQ(kernel.read_state<MeterState>().value(), (MeterState{answered, answered}));
  }
}

}  // namespace
}  // namespace ringkernel::test
