// The state of an actor as JSON, whatever the actor does meanwhile.
#include <flatbuffers/flatbuffers.h>
#include <gmock/gmock.h>

#include <atomic>
#include <charconv>
#include <string>
#include <thread>

#include "ringkernel/json.hpp"
#include "ringkernel/schema_text.hpp"
#include "shop_program.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ProgramStates : public OnEachBackend {
 protected:
  /// A request for Shelf.Put, which counts one.
  static flatbuffers::DetachedBuffer item() {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(builder.StartTable())));
    return builder.Release();
  }
  static Bytes bytes_of(const flatbuffers::DetachedBuffer& buffer) {
    return {reinterpret_cast<const std::byte*>(buffer.data()), buffer.size()};
  }
  /// Of a shelf's state; the test fails if it is none.
  static std::uint64_t count_in(const std::string& json) {
    constexpr std::string_view before = R"({"count": )";
    std::uint64_t count = ~std::uint64_t{0};
    EXPECT_TRUE(json.starts_with(before)) << json;
    if (json.size() > before.size())
      std::from_chars(json.data() + before.size(), json.data() + json.size(), count);
    return count;
  }
  static RingKernelRuntime open_shop(const RuntimeOptions& options = {}) {
    auto runtime = open_on(GetParam(), options).value();
    EXPECT_TRUE(runtime.add_program(shop_program()));
    return runtime;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, ProgramStates, ::testing::ValuesIn(backend_names()),
                         backend_label);

TEST_P(ProgramStates, AreThereInEveryStateOfTheKernel) {
  auto runtime = open_shop();
  Kernel shelf = runtime.launch("shelf", {.program = "shop", .behaviour = "Shelf"}).value();
  EXPECT_EQ(shelf.state_json().value(), R"({"count": 0})");
  ASSERT_TRUE(shelf.activate());
  const auto put = item();
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(shelf.call("Put", bytes_of(put)));
    EXPECT_EQ(count_in(shelf.state_json().value()), i);
  }
  ASSERT_TRUE(shelf.deactivate());
  EXPECT_EQ(shelf.state_json().value(), R"({"count": 3})");
  ASSERT_TRUE(shelf.terminate());
  EXPECT_EQ(shelf.state_json().error(), Errc::invalid_state);
}

TEST_P(ProgramStates, WithoutASchemaAreDigits) {
  auto runtime = open_on(GetParam()).value();
  ASSERT_TRUE(runtime.add_program({.name = "bytes",
                                   .source = Source::text("bytes.rk.cl",
                                                          "RK_ON_BYTES {\n"
                                                          "  *(RK_GLOBAL rk_u32*)state += 0xabc;\n"
                                                          "  rk_reply_length(self, 0);\n"
                                                          "  return RK_OK;\n"
                                                          "}\n"),
                                   .state_bytes = 8}));
  Kernel kernel = active(runtime, "a", {.program = "bytes"});
  ASSERT_TRUE(kernel.call(plain(8)));
  EXPECT_EQ(kernel.state_json().value(), R"("bc0a000000000000")");
  const auto none = active(runtime, "b", {.program = "echo"}).state_json();
  EXPECT_EQ(none.error(), Errc::state_mismatch);
  EXPECT_THAT(none.error().text(), HasSubstr("kernel 'b' of program 'echo' has no state"));
}

/// Each call is counted once, in order, and a copy is of a moment between two calls.
TEST_P(ProgramStates, AreReadUnderLoad) {
  constexpr int reads = 200;
  auto runtime = open_shop();
  Kernel shelf = active(runtime, "shelf", {.program = "shop", .behaviour = "Shelf"});
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> answered{0};
  std::string wrong;
  std::thread caller([&] {
    const auto put = item();
    while (!stop && wrong.empty()) {
      const auto reply = shelf.call("Put", bytes_of(put));
      if (!reply) wrong = reply.error().text();
      ++answered;
    }
  });
  std::uint64_t before = 0;
  for (int i = 0; i < reads; ++i) {
    const std::uint64_t first = answered;
    const auto state = shelf.state_json();
    ASSERT_TRUE(state) << state.error().text();
    const std::uint64_t count = count_in(*state);
    EXPECT_GE(count, std::max(before, first));
    EXPECT_LE(count, answered + 1);
    before = count;
  }
  stop = true;
  caller.join();
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(count_in(shelf.state_json().value()), answered);
}

/// A handler is at work between its first change of the state and its last one for almost all of
/// the time: a copy shows both or none.
TEST_P(ProgramStates, AreThoseBetweenTwoMessages) {
  auto runtime = open_on(GetParam()).value();
  const std::string source =
      "RK_ON_BYTES {\n"
      "  RK_GLOBAL volatile rk_u64* words = (RK_GLOBAL volatile rk_u64*)state;\n"
      "  words[0] += 1;\n"
      "  for (words[2] = 0; words[2] < 5000u;) words[2] += 1;\n"
      "  words[1] += 1;\n"
      "  rk_reply_length(self, 0);\n"
      "  return RK_OK;\n"
      "}\n";
  ASSERT_TRUE(runtime.add_program(
      {.name = "pair", .source = Source::text("pair.rk.cl", source), .state_bytes = 24}));
  Kernel kernel = active(runtime, "a", {.program = "pair"});
  std::atomic<bool> stop{false};
  std::string wrong;
  std::thread caller([&] {
    while (!stop && wrong.empty())
      if (const auto reply = kernel.call(plain(8)); !reply) wrong = reply.error().text();
  });
  for (int i = 0; i < 100; ++i) {
    const auto state = kernel.state_json();
    ASSERT_TRUE(state) << state.error().text();
    EXPECT_EQ(state->substr(1, 16), state->substr(17, 16)) << *state;
  }
  stop = true;
  caller.join();
  EXPECT_EQ(wrong, "");
}

/// Whoever changes the kernel has the last word.
TEST_P(ProgramStates, StandInNobodysWay) {
  auto runtime = open_shop();
  Kernel shelf = active(runtime, "shelf", {.program = "shop", .behaviour = "Shelf"});
  const auto put = item();
  std::atomic<bool> stop{false};
  std::string wrong;
  std::thread reader([&] {
    while (!stop && wrong.empty())
      if (const auto state = shelf.state_json(); !state) wrong = state.error().text();
  });
  std::uint64_t count = 0;
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(shelf.deactivate());
    ASSERT_TRUE(shelf.send({shelf.method("Put").value(), bytes_of(put)}));
    for (int look = 0; look < 20; ++look)
      EXPECT_EQ(count_in(shelf.state_json().value()), count) << "it rests";
    EXPECT_EQ(shelf.status(), KernelStatus::deactivated);
    ASSERT_TRUE(shelf.activate());
    ASSERT_TRUE(shelf.receive(60s));
    ++count;
    if (i % 10 == 0) {
      ASSERT_TRUE(runtime.swap_program(shop_program()));
    }
  }
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(count_in(shelf.state_json().value()), count);
}

/// A termination that drains goes on behind the pause.
TEST_P(ProgramStates, AreReadWhileKernelsEnd) {
  auto runtime = open_shop();
  const auto put = item();
  for (int i = 0; i < 20; ++i) {
    Kernel shelf = active(runtime, "shelf", {.program = "shop", .behaviour = "Shelf"});
    std::thread reader([&] {
      while (shelf.state_json()) continue;
    });
    for (int message = 0; message < 10; ++message)
      ASSERT_TRUE(shelf.send({shelf.method("Put").value(), bytes_of(put)}));
    EXPECT_TRUE(shelf.terminate({.drain = true}));
    reader.join();
    for (int message = 0; message < 10; ++message) EXPECT_TRUE(shelf.receive(60s));
  }
}

TEST_P(ProgramStates, AreBusyWhileAHandlerIs) {
  auto runtime = open_on(GetParam(), {.termination_timeout = 3ms}).value();
  const std::string slow =
      "RK_ON_BYTES {\n"
      "  RK_GLOBAL volatile rk_u32* turns = (RK_GLOBAL volatile rk_u32*)state;\n"
      "  for (*turns = 0; *turns < 50000000u;) *turns += 1;\n"
      "  rk_reply_length(self, 0);\n"
      "  return RK_OK;\n"
      "}\n";
  ASSERT_TRUE(runtime.add_program(
      {.name = "slow", .source = Source::text("slow.rk.cl", slow), .state_bytes = 8}));
  Kernel kernel = active(runtime, "a", {.program = "slow"});
  bool is_seen = false;
  for (int i = 0; i < 40 && !is_seen; ++i) {  // on a busy machine the handler may end first
    ASSERT_TRUE(kernel.send(plain(8)));
    while (!is_seen && kernel.metrics().unreceived == 0) {  // it may not have begun
      const auto state = kernel.state_json();
      is_seen = !state && state.error() == Errc::busy;
      EXPECT_TRUE(state || is_seen) << state.error().text();
    }
    ASSERT_TRUE(kernel.receive(60s));
  }
  EXPECT_TRUE(is_seen);
  ASSERT_TRUE(kernel.call(plain(8), {.timeout = 60s})) << "it goes on";
}

/// Numbers to the last bit, and what FlatBuffers' own printer makes of the rest.
TEST_P(ProgramStates, AreWhatFlatBuffersPrints) {
  const std::string text =
      "namespace all; attribute \"state_of\"; attribute \"version\";\n"
      "enum Side : byte { Buy = -1, None, Sell = 5 }\n"
      "enum Flags : ubyte (bit_flags) { Hot, Cold, Wet }\n"
      "struct Leg { price: float; qty: ushort; }\n"
      "struct S (state_of: \"Book\", version: 1) { b: bool; i8: byte; u8: ubyte; i16: short;\n"
      "  u16: ushort; i32: int; u32: uint; i64: long; u64: ulong; f: float; side: Side;\n"
      "  flags: Flags; odd: Side; leg: Leg; legs: [Leg:2]; bytes: [ubyte:3]; sides: [Side:2]; }\n"
      "table Ask { } table Answer { }\n"
      "rpc_service Book { Look(Ask): Answer; }\n";
  const auto schema = schema_from_text("all.fbs", text);
  ASSERT_TRUE(schema) << schema.error().text();
  auto runtime = open_on(GetParam()).value();
  const auto added =
      runtime.add_program({.name = "all",
                           .source = Source::text("all.rk.cl",
                                                  "#include \"all.rk.h\"\n"
                                                  "RK_ON(Book, Look) { return RK_OK; }\n"),
                           .schema = *schema});
  ASSERT_TRUE(added) << added.error().text();
  Kernel book = active(runtime, "book", {.program = "all"});
  JsonCodec codec = JsonCodec::open(*schema).value();
  const auto shown = [&](const std::string& json) {
    EXPECT_TRUE(book.deactivate());
    const auto written = write_state_json(book, codec, json);
    EXPECT_TRUE(written) << written.error().text();
    EXPECT_EQ(codec.to_state(read_state_json(book, codec).value()).value().size(),
              codec.state_bytes());
    EXPECT_TRUE(book.activate());
    return book.state_json().value();
  };
  const std::string extremes =
      R"({"b": true,"i8": -128,"u8": 255,"i16": -32768,"u16": 65535,"i32": -2147483648,)"
      R"("u32": 4294967295,"i64": -9223372036854775808,"u64": 18446744073709551615,"f": 0.5,)"
      R"("side": "Buy","flags": "Hot Wet","odd": 7,"leg": {"price": -2.0,"qty": 9},)"
      R"("legs": [{"price": 1.5,"qty": 1},{"price": 0.0,"qty": 2}],"bytes": [1,2,3],)"
      R"("sides": ["Sell","Buy"]})";
  EXPECT_EQ(shown(extremes), extremes);
  EXPECT_EQ(codec.from_state(codec.to_state(extremes).value()).value(), extremes);
  const auto with_f = [&](const std::string& f) {
    std::string json = extremes;
    return json.replace(json.find("0.5"), 3, f);
  };
  for (const char* const f : {"0.1", "16777217.0", "3.4028235e+38", "1e-45", "123456.79"}) {
    const std::string json = shown(with_f(f));
    EXPECT_EQ(codec.to_state(json).value(), codec.to_state(with_f(f)).value()) << json;
  }
  for (const char* const f : {"nan", "inf", "-inf"})
    EXPECT_EQ(shown(with_f(f)), with_f(f)) << "as FlatBuffers prints them";
}

}  // namespace
}  // namespace ringkernel::test
