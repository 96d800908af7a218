// Programs of a user's own, without a schema: bytes in, bytes out, and a state between them.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "support/backends.hpp"
#include "support/temp_folder.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Adds up the numbers that it is sent, and answers with the sum and how many there were. Zero is
/// refused.
constexpr const char* adder = R"(
typedef struct {
  rk_u64 sum;
  rk_u64 count;
} adder_state;

RK_ON_BYTES {
  RK_GLOBAL adder_state* total = (RK_GLOBAL adder_state*)state;
  RK_GLOBAL rk_u64* answer = (RK_GLOBAL rk_u64*)rk_reply_bytes(self);
  if (rk_request_length(self) != 8) return rk_fault(self, 2, rk_request_length(self));
  const rk_u64 number = *(RK_GLOBAL const rk_u64*)rk_request_bytes(self);
  if (number == 0) return rk_fault(self, 1, 77);
  total->sum += number;
  total->count += 1;
  answer[0] = total->sum;
  answer[1] = total->count;
  rk_reply_length(self, 16);
  return RK_OK;
}
)";

struct AdderState {
  std::uint64_t sum;
  std::uint64_t count;
  bool operator==(const AdderState&) const = default;
};

ProgramDesc adder_program(std::string name = "adder") {
  return {.name = std::move(name),
          .source = Source::text("adder.rk.cl", adder),
          .schema = {},
          .state_bytes = sizeof(AdderState),
          .reply_bytes = 64};
}

class Programs : public OnEachBackend {
 public:
  static Result<AdderState> add(Kernel& kernel, std::uint64_t number) {
    RK_TRY(reply, kernel.call(std::as_bytes(std::span(&number, 1))));
    AdderState answer{};
    EXPECT_EQ(reply.bytes().size(), sizeof answer);
    std::memcpy(&answer, reply.bytes().data(), std::min(reply.bytes().size(), sizeof answer));
    return answer;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, Programs, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(Programs, AHandlerAnswersAndKeepsItsState) {
  auto runtime = open();
  const auto added = runtime.add_program(adder_program());
  ASSERT_TRUE(added) << added.error().text();
  EXPECT_EQ(added->name, "adder");
  EXPECT_FALSE(added->takes_ops);
  Kernel kernel = active(runtime, "a", {.program = "adder"});
  for (std::uint64_t i = 1; i <= 100; ++i) {
    const auto answer = add(kernel, i);
    ASSERT_TRUE(answer) << answer.error().text();
    ASSERT_EQ(*answer, (AdderState{i * (i + 1) / 2, i}));
  }
}

TEST_P(Programs, EachKernelHasAStateOfItsOwnWhichBeginsAsZeros) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(adder_program()));
  Kernel one = active(runtime, "one", {.program = "adder"});
  Kernel two = active(runtime, "two", {.program = "adder"});
  EXPECT_EQ(add(one, 5)->sum, 5u);
  EXPECT_EQ(add(two, 7)->sum, 7u);
  EXPECT_EQ(add(one, 5)->sum, 10u);
  ASSERT_TRUE(one.terminate());
  Kernel again = active(runtime, "one", {.program = "adder"});
  EXPECT_EQ(add(again, 1)->sum, 1u) << "the state of the kernel before it";
}

TEST_P(Programs, AFaultNamesItsCodeAndDetailAndLeavesTheStateAlone) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(adder_program()));
  Kernel kernel = active(runtime, "a", {.program = "adder"});
  EXPECT_EQ(add(kernel, 3)->sum, 3u);
  const auto refused = add(kernel, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::handler_fault);
  EXPECT_EQ(refused.error().fault_code, 1u);
  EXPECT_EQ(refused.error().fault_detail, 77u);
  EXPECT_THAT(refused.error().text(), AllOf(HasSubstr("'a'"), HasSubstr("code 1, detail 77")));
  EXPECT_EQ(add(kernel, 4)->sum, 7u);
  EXPECT_EQ(kernel.metrics().faults, 1u);
}

TEST_P(Programs, AStateIsReadAndWrittenWhileTheKernelRests) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(adder_program()));
  Kernel kernel = active(runtime, "a", {.program = "adder"});
  EXPECT_EQ(add(kernel, 3)->sum, 3u);
  EXPECT_EQ(kernel.read_state<AdderState>().error(), Errc::invalid_state);
  EXPECT_EQ(kernel.write_state(AdderState{}).error(), Errc::invalid_state);
  ASSERT_TRUE(kernel.deactivate());
  const auto state = kernel.read_state<AdderState>();
  ASSERT_TRUE(state) << state.error().text();
  EXPECT_EQ(*state, (AdderState{3, 1}));
  ASSERT_TRUE(kernel.write_state(AdderState{100, 10}));
  EXPECT_EQ(kernel.write_state(std::uint32_t{1}).error(), Errc::invalid_argument);
  ASSERT_TRUE(kernel.activate());
  EXPECT_EQ(*add(kernel, 1), (AdderState{101, 11}));
}

TEST_P(Programs, AStateOutlivesParking) {
  auto runtime = open({.park_after = 1us});
  ASSERT_TRUE(runtime.add_program(adder_program()));
  Kernel kernel = active(runtime, "a", {.program = "adder"});
  for (std::uint64_t i = 1; i <= 20; ++i) {
    const auto added = add(kernel, 1);
    ASSERT_TRUE(added) << added.error().text() << ", message " << i << ", slices "
                       << kernel.metrics().slices << ", parks " << kernel.metrics().parks;
    EXPECT_EQ(added->sum, i);
    const auto deadline = std::chrono::steady_clock::now() + 5s;
    const auto has_parked = [&] {
      const KernelMetrics metrics = kernel.metrics();
      return metrics.parks == metrics.slices;
    };
    while (!has_parked() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_TRUE(has_parked());
  }
}

TEST_P(Programs, ARepliesRoomIsTheProgramsAndItsLengthTheHandlers) {
  auto runtime = open();
  const auto added = runtime.add_program(
      {.name = "counting",
       .source = Source::text("counting.rk.cl",
                              "RK_ON_BYTES {\n"
                              "  const rk_u32 room = rk_reply_room(self);\n"
                              "  for (rk_u32 i = 0; i < room; ++i) rk_reply_bytes(self)[i] = "
                              "(rk_u8)(rk_request_bytes(self)[0] + i);\n"
                              "  rk_reply_length(self, rk_request_bytes(self)[0]);\n"
                              "  return RK_OK;\n"
                              "}\n"),
       .schema = {},
       .reply_bytes = 200});
  ASSERT_TRUE(added) << added.error().text();
  Kernel kernel = active(runtime, "a", {.program = "counting"});
  for (const int length : {0, 1, 64, 199, 200, 201, 255}) {
    const auto reply = kernel.call(plain(1, length));
    ASSERT_TRUE(reply) << reply.error().text();
    ASSERT_EQ(reply->bytes().size(), static_cast<std::size_t>(length <= 200 ? length : 200));
    for (std::size_t i = 0; i < reply->bytes().size(); ++i)
      ASSERT_EQ(reply->bytes()[i], static_cast<std::byte>(length + static_cast<int>(i)));
  }
}

/// The sum over 64 virtual lanes, then in a tree, as rk_actor.h promises it.
float team_sum(std::span<const float> values) {
  std::array<float, 64> parts{};
  for (std::size_t i = 0; i < values.size(); ++i) parts[i % 64] += values[i];
  for (std::size_t half = 32; half != 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) parts[i] += parts[i + half];
  return parts[0];
}

TEST_P(Programs, ArithmeticHasTheSameBitsEverywhere) {
  auto runtime = open();
  const auto added = runtime.add_program(
      {.name = "sums",
       .source = Source::text("sums.rk.cl",
                              "RK_ON_BYTES {\n"
                              "  RK_GLOBAL const rk_f32* x ="
                              " (RK_GLOBAL const rk_f32*)rk_request_bytes(self);\n"
                              "  RK_GLOBAL rk_f32* y = (RK_GLOBAL rk_f32*)rk_reply_bytes(self);\n"
                              "  rk_f32 sum;\n"
                              "  RK_TEAM_SUM(self, i, rk_request_length(self) / 4, sum, x[i]);\n"
                              "  y[0] = sum;\n"
                              "  y[1] = rk_fma(x[0], x[1], x[2]);\n"
                              "  y[2] = x[0] * x[1] + x[2]; /* not contracted */\n"
                              "  y[3] = (rk_f32)(rk_lane(self) + 10 * rk_lanes(self));\n"
                              "  rk_barrier(self);\n"
                              "  rk_reply_length(self, rk_leads(self) ? 16 : 0);\n"
                              "  return RK_OK;\n"
                              "}\n"),
       .reply_bytes = 16});
  ASSERT_TRUE(added) << added.error().text();
  Kernel kernel = active(runtime, "a", {.program = "sums"});
  for (const std::size_t count : {3u, 63u, 64u, 65u, 1000u}) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = 1.0f / static_cast<float>(3 + (i * 7919) % 1013);
    const auto reply = kernel.call(std::as_bytes(std::span(values)));
    ASSERT_TRUE(reply) << reply.error().text();
    std::array<float, 4> got{};
    ASSERT_EQ(reply->bytes().size(), sizeof got);
    std::memcpy(got.data(), reply->bytes().data(), sizeof got);
    const volatile float product = values[0] * values[1];  // rounded by itself
    EXPECT_EQ(got[0], team_sum(values)) << count;
    EXPECT_EQ(got[1], std::fma(values[0], values[1], values[2]));
    EXPECT_EQ(got[2], product + values[2]);
    EXPECT_EQ(got[3], 10.0f) << "one lane";
  }
}

TEST_P(Programs, WhatDoesNotBuildSaysWhereInTheUsersFile) {
  auto runtime = open();
  const ProgramDesc broken{.name = "broken",
                           .source = Source::text("broken.rk.cl",
                                                  "RK_ON_BYTES {\n"
                                                  "  return no_such_thing(self);\n"
                                                  "}\n")};
  const auto added = runtime.add_program(broken);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error(), Errc::build_failed);
  EXPECT_THAT(added.error().text(), AllOf(HasSubstr("broken.rk.cl:2"), HasSubstr("no_such_thing")));
  EXPECT_EQ(runtime.launch("a", {.program = "broken"}).error(), Errc::program_not_found);
  ProgramDesc mended = adder_program("broken");
  EXPECT_TRUE(runtime.add_program(mended)) << "its name was not free again";
}

TEST_P(Programs, WhoeverIsToldOfAHeaderOfOursIsToldWhatToReadInstead) {
  auto runtime = open();
  const auto added = runtime.add_program(
      {.name = "broken",
       .source = Source::text("broken.rk.cl", "RK_ON_BYTES { return rk_fault(self); }\n")});
  ASSERT_FALSE(added);
  const std::string text = added.error().text();
  EXPECT_THAT(text, HasSubstr("broken.rk.cl:1"));
  const bool names_ours = text.find("kernels/rk_actor.h") != std::string::npos;
  const bool says_what =
      text.find("docs/PROGRAMS.md says what handlers may use") != std::string::npos;
  EXPECT_EQ(says_what, names_ours) << text;
  // What declares the function: PoCL's compiler leaves that out.
  if (is_of_host_threads(GetParam())) {
    EXPECT_TRUE(names_ours) << text;
  }
}

TEST_P(Programs, ItsFileIsReadWhenItIsAdded) {
  auto runtime = open();
  const testing::TempFolder folder;
  const std::string path = folder.path() / "adder.rk.cl";
  ProgramDesc program = adder_program();
  program.source = Source::file(path);
  const auto missing = runtime.add_program(program);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), Errc::invalid_argument);
  EXPECT_THAT(missing.error().text(), HasSubstr(path));
  std::ofstream(path) << adder;
  const auto added = runtime.add_program(program);
  ASSERT_TRUE(added) << added.error().text();
  Kernel kernel = active(runtime, "a", {.program = "adder"});
  EXPECT_EQ(add(kernel, 9)->sum, 9u);
}

TEST_P(Programs, AreMadeOfSeveralFiles) {
  auto runtime = open();
  const testing::TempFolder folder;
  std::ofstream(folder.path() / "prices.h") << "#ifndef PRICES\n"
                                               "#define PRICES\n"
                                               "#include \"more.h\"\n"
                                               "RK_FN rk_u32 price(void) { return MORE + 2u; }\n"
                                               "#endif\n";
  const char* const handlers =
      "#include \"prices.h\"\n"
      "#include \"more.h\"\n"
      "RK_ON_BYTES {\n"
      "  *(RK_GLOBAL rk_u32*)rk_reply_bytes(self) = price();\n"
      "  return RK_OK;\n"
      "}\n";
  ProgramDesc program{
      .name = "priced", .source = Source::text("priced.rk.cl", handlers), .reply_bytes = 4};
  const auto missing = runtime.add_program(program);
  EXPECT_EQ(missing.error(), Errc::build_failed);
  EXPECT_THAT(missing.error().text(), AllOf(HasSubstr("priced.rk.cl:1"), HasSubstr("prices.h"),
                                            HasSubstr("ProgramDesc::headers")));
  program.headers = {Source::file(folder.path() / "prices.h"),
                     Source::text("more.h", "#define MORE 40u\n")};
  const auto added = runtime.add_program(program);
  ASSERT_TRUE(added) << added.error().text();
  Kernel kernel = active(runtime, "a", {.program = "priced"});
  const auto price = [&] {
    const auto reply = kernel.call(plain(4));
    std::uint32_t value = 0;
    if (reply) std::memcpy(&value, reply->bytes().data(), sizeof value);
    return value;
  };
  EXPECT_EQ(price(), 42u);
  // A version that says nothing of headers has those of before; one that does has its own.
  ASSERT_TRUE(runtime.swap_program(
      {.name = "priced", .source = Source::text("priced.rk.cl", std::string(handlers) + "\n")}));
  EXPECT_EQ(price(), 42u);
  ASSERT_TRUE(runtime.swap_program(
      {.name = "priced",
       .source = program.source,
       .headers = {program.headers[0], Source::text("more.h", "#define MORE 50u\n")}}));
  EXPECT_EQ(price(), 52u);
  // One that includes none of them has none of them.
  const char* const alone = "RK_ON_BYTES { rk_reply_length(self, 0); return RK_OK; }\n";
  ASSERT_TRUE(runtime.swap_program({.name = "priced", .source = Source::text("more.h", alone)}));
  EXPECT_EQ(kernel.call(plain(4))->bytes().size(), 0u);
  // An error is in the file that has it.
  program.name = "broken";
  program.headers[1] = Source::text("more.h", "#define MORE 40u\nrk_u32 f(void) { return no; }\n");
  EXPECT_THAT(runtime.add_program(program).error().text(), HasSubstr("more.h:2"));
  // Names are looked up by the compiler's rules, and would be another file's.
  program.headers[1] = Source::text("rk_actor.h", "");
  const auto ours = runtime.add_program(program);
  EXPECT_EQ(ours.error(), Errc::invalid_argument);
  EXPECT_THAT(ours.error().text(), HasSubstr("'rk_actor.h' is the name of"));
}

TEST_P(Programs, WhatCannotBeAddedSaysWhy) {
  auto runtime = open();
  const auto refusal = [&](const ProgramDesc& program) {
    const auto added = runtime.add_program(program);
    EXPECT_FALSE(added);
    EXPECT_EQ(added.error(), Errc::invalid_argument);
    return added.error().text();
  };
  EXPECT_THAT(refusal({.name = "two words"}), HasSubstr("identifier"));
  EXPECT_THAT(refusal({.name = ""}), HasSubstr("identifier"));
  EXPECT_THAT(refusal({.name = "empty"}), HasSubstr("no source"));
  EXPECT_THAT(refusal(adder_program("core")), HasSubstr("already"));
  ProgramDesc large = adder_program("large");
  large.state_bytes = (1u << 30) + 1;
  EXPECT_THAT(refusal(large), HasSubstr("'large': a state has at most 1073741824 bytes"));
  large = adder_program("large");
  large.reply_bytes = std::numeric_limits<std::uint32_t>::max();
  EXPECT_THAT(refusal(large), HasSubstr("bytes, a reply "));
  large = adder_program("large");
  large.source = Source::text("large.rk.cl", adder + std::string(1u << 20, '\n'));
  EXPECT_THAT(refusal(large), HasSubstr("'large.rk.cl' has more than 1048576 bytes"));
  ASSERT_TRUE(runtime.add_program(adder_program()));
  EXPECT_THAT(refusal(adder_program()), HasSubstr("already"));
  const auto unknown = runtime.launch("a", {.program = "adde"});
  EXPECT_EQ(unknown.error(), Errc::program_not_found);
  EXPECT_THAT(unknown.error().text(), HasSubstr("core, echo, adder"));
  const auto behaviour = runtime.launch("a", {.program = "adder", .behaviour = "Book"});
  EXPECT_EQ(behaviour.error(), Errc::invalid_argument);
  EXPECT_THAT(behaviour.error().text(), HasSubstr("no schema"));
}

TEST_P(Programs, AStateLargerThanTheArenaIsRefusedAtLaunch) {
  auto runtime = open();
  ProgramDesc program = adder_program();
  program.state_bytes = 1u << 30;  // as large as a state may be, and no arena of a test is
  const auto added = runtime.add_program(program);
  ASSERT_TRUE(added) << added.error().text();
  const auto launched = runtime.launch("a", {.program = "adder"});
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error(), Errc::allocation_failure);
  EXPECT_THAT(launched.error().text(), HasSubstr("arena"));
  EXPECT_TRUE(runtime.launch("a")) << "its id was not free again";
}

TEST_P(Programs, ItIsThereAgainAfterARestart) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(adder_program()));
  Kernel kernel = active(runtime, "a", {.program = "adder"});
  EXPECT_EQ(add(kernel, 3)->sum, 3u);
  ASSERT_TRUE(runtime.restart("adder"));
  EXPECT_EQ(add(kernel, 3).error(), Errc::kernel_terminated);
  Kernel again = active(runtime, "a", {.program = "adder"});
  EXPECT_EQ(add(again, 4)->sum, 4u);
}

TEST_P(Programs, OpsAndMethodsAreRefused) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(adder_program()));
  Kernel kernel = active(runtime, "a", {.program = "adder"});
  EXPECT_EQ(kernel.call(Request{}).error(), Errc::unsupported_operation);
  EXPECT_EQ(kernel.call(Message{}).error(), Errc::unsupported_operation);
  EXPECT_THAT(kernel.method("Submit").error().text(), HasSubstr("no schema"));
  Kernel ops = active(runtime, "ops");
  EXPECT_EQ(ops.call(Message{}).error(), Errc::unsupported_operation);
}

}  // namespace
}  // namespace ringkernel::test
