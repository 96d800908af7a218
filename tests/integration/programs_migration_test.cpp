// A program with a schema in another one's place: states are migrated, and what does not fit the
// kernels that run is refused.
#include <flatbuffers/flatbuffers.h>
#include <gmock/gmock.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ringkernel/json.hpp"
#include "ringkernel/schema_text.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* attributes =
    "namespace bank;\nattribute \"state_of\"; attribute \"version\"; attribute \"migrates\"; "
    "attribute \"max\";\n";
constexpr const char* messages =
    "table Deposit { amount: ulong; }\ntable Balance { cents: ulong; }\n";
constexpr const char* state_1 =
    "struct AccountState (state_of: \"Account\", version: 1) { euros: uint; }\n";
/// Counts in cents, and knows how many deposits there were.
constexpr const char* state_2 =
    "struct Euros { euros: uint; }\n"
    "struct AccountState (state_of: \"Account\", version: 2, migrates: \"Euros\")\n"
    "  { cents: ulong; deposits: ulong; }\n";
constexpr const char* service = "rpc_service Account { Pay(Deposit): Balance; }\n";

constexpr const char* source_1 = R"(
#include "bank.rk.h"
RK_ON(Account, Pay) {
  state->euros += (rk_u32)Deposit_amount(request);
  reply->cents = (rk_u64)state->euros * 100;
  return RK_OK;
}
)";
constexpr const char* source_2 = R"(
#include "bank.rk.h"
RK_FAULT_TEXT(5, "unlucky")
RK_MIGRATE(Account) {
  if (was->euros == 13) return rk_fault(self, 5, 13);
  if (was->euros == 14) return 1;
  state->cents = (rk_u64)was->euros * 100;
  return RK_OK;
}
RK_ON(Account, Pay) {
  state->cents += Deposit_amount(request) * 100;
  state->deposits += 1;
  reply->cents = state->cents;
  return RK_OK;
}
)";

Schema bank_schema(const std::string& text) {
  return schema_from_text("bank.fbs", attributes + text).value();
}
ProgramDesc bank(const std::string& schema, const char* source) {
  return {
      .name = "bank", .source = Source::text("bank.rk.cl", source), .schema = bank_schema(schema)};
}
ProgramDesc bank_1() { return bank(std::string(messages) + state_1 + service, source_1); }
ProgramDesc bank_2() { return bank(std::string(messages) + state_2 + service, source_2); }

/// Takes fees, too.
ProgramDesc bank_3() {
  constexpr const char* state_3 =
      "struct Before { cents: ulong; deposits: ulong; }\n"
      "struct AccountState (state_of: \"Account\", version: 3, migrates: \"Before\")\n"
      "  { fees: ulong; cents: ulong; }\n";
  constexpr const char* source_3 = R"(
#include "bank.rk.h"
RK_MIGRATE(Account) {
  state->cents = was->cents;
  return RK_OK;
}
RK_ON(Account, Pay) {
  state->cents += Deposit_amount(request) * 100;
  reply->cents = state->cents;
  return RK_OK;
}
)";
  return bank(std::string(messages) + state_3 + service, source_3);
}

class SwapWithSchema : public OnEachBackend {
 public:
  static RingKernelRuntime open_bank() {
    auto runtime = open_on(GetParam()).value();
    const auto added = runtime.add_program(bank_1());
    EXPECT_TRUE(added) << added.error().text();
    return runtime;
  }
  static std::string pay(Kernel& kernel, int amount) {
    JsonCodec codec =
        JsonCodec::open(bank_schema(std::string(messages) + state_1 + service)).value();
    const auto balance =
        call_json(kernel, codec, "Pay", "{\"amount\": " + std::to_string(amount) + "}");
    return balance ? *balance : balance.error().text();
  }
  /// Why a program with that schema is refused.
  static std::string refusal(RingKernelRuntime& runtime, const std::string& schema,
                             const char* source = source_1) {
    const auto swapped = runtime.swap_program(bank(schema, source));
    if (swapped) return "accepted";
    EXPECT_EQ(swapped.error(), Errc::incompatible_program) << swapped.error().text();
    return swapped.error().text();
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, SwapWithSchema, ::testing::ValuesIn(backend_names()),
                         backend_label);

class Deposit {
 public:
  explicit Deposit(std::uint64_t amount) {
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

struct Account2 {
  std::uint64_t cents;
  std::uint64_t deposits;
};

TEST_P(SwapWithSchema, StatesAreMigrated) {
  auto runtime = open_bank();
  Kernel busy = active(runtime, "busy", {.program = "bank"});
  Kernel resting = active(runtime, "resting", {.program = "bank"});
  Kernel fresh = runtime.launch("fresh", {.program = "bank"}).value();
  EXPECT_EQ(pay(busy, 3), R"({"cents": 300})");
  EXPECT_EQ(pay(resting, 4), R"({"cents": 400})");
  ASSERT_TRUE(resting.deactivate());
  ASSERT_TRUE(fresh.write_state(std::uint32_t{9}));

  const auto swapped = runtime.swap_program(bank_2());
  ASSERT_TRUE(swapped) << swapped.error().text();
  EXPECT_EQ(swapped->migrated, 3u);
  EXPECT_EQ(runtime.program("bank")->behaviours[0].state_version, 2u);
  EXPECT_EQ(pay(busy, 1), R"({"cents": 400})");
  // Also those that are not active: they have the new state already.
  EXPECT_EQ(resting.read_state<Account2>()->cents, 400u);
  EXPECT_EQ(fresh.read_state<Account2>()->cents, 900u);
  EXPECT_EQ(fresh.read_state<std::uint32_t>().error(), Errc::invalid_argument);
  ASSERT_TRUE(resting.activate());
  EXPECT_EQ(pay(resting, 2), R"({"cents": 600})");
  ASSERT_TRUE(resting.deactivate());  // and only once
  EXPECT_EQ(resting.read_state<Account2>()->cents, 600u);
  EXPECT_EQ(resting.read_state<Account2>()->deposits, 1u);
  ASSERT_TRUE(fresh.activate());
  EXPECT_EQ(pay(fresh, 0), R"({"cents": 900})");
  Kernel later = active(runtime, "later", {.program = "bank"});
  EXPECT_EQ(pay(later, 1), R"({"cents": 100})");

  const auto back = runtime.swap_back("bank");
  EXPECT_EQ(back.error(), Errc::incompatible_program);
  EXPECT_THAT(back.error().text(), HasSubstr("kernels with the new state cannot go back"));
}

TEST_P(SwapWithSchema, AMigrationThatFailsIsOneKernels) {
  auto runtime = open_bank();
  Kernel unlucky = active(runtime, "unlucky", {.program = "bank"});
  Kernel wrong = active(runtime, "wrong", {.program = "bank"});
  Kernel other = active(runtime, "other", {.program = "bank"});
  EXPECT_EQ(pay(unlucky, 13), R"({"cents": 1300})");
  EXPECT_EQ(pay(wrong, 14), R"({"cents": 1400})");
  EXPECT_EQ(pay(other, 1), R"({"cents": 100})");
  const auto swapped = runtime.swap_program(bank_2());
  ASSERT_FALSE(swapped);
  EXPECT_EQ(swapped.error(), Errc::state_mismatch);
  EXPECT_THAT(swapped.error().text(),
              AllOf(HasSubstr("version 2"), HasSubstr("'unlucky' can only be terminated"),
                    HasSubstr("failed: code 5, unlucky")));
  EXPECT_EQ(unlucky.status(), KernelStatus::failed);
  for (Kernel* failed : {&unlucky, &wrong})
    EXPECT_THAT(pay(*failed, 1), HasSubstr("state could not be migrated"));
  for (const auto& changed : {unlucky.deactivate(), unlucky.activate()}) {
    ASSERT_FALSE(changed);
    EXPECT_EQ(changed.error(), Errc::state_mismatch) << changed.error().text();
    EXPECT_THAT(changed.error().text(), HasSubstr("kernel 'unlucky'"));
  }
  EXPECT_EQ(pay(other, 1), R"({"cents": 200})");
  // The next one leaves it alone.
  EXPECT_EQ(runtime.swap_program(bank_3()).value().migrated, 1u);
  EXPECT_EQ(pay(other, 1), R"({"cents": 300})");
  ASSERT_TRUE(unlucky.terminate());
  Kernel again = active(runtime, "unlucky", {.program = "bank"});
  EXPECT_EQ(pay(again, 1), R"({"cents": 100})");
}

/// A program whose kernels of the behaviour Slow, which have no state, take as long as they are
/// told.
ProgramDesc bank_with_slow(const char* state, const char* source) {
  const std::string slow = R"(
RK_ON(Slow, Wait) {
  RK_GLOBAL volatile rk_u64* turns = &reply->cents;
  for (*turns = 0; *turns < Deposit_amount(request);) *turns += 1;
  return RK_OK;
}
)";
  return bank(
      std::string(messages) + state + service + "rpc_service Slow { Wait(Deposit): Balance; }\n",
      (source + slow).c_str());
}

/// A swap that ended while a handler was at work, before any state was migrated.
struct LateSwap {
  RingKernelRuntime runtime;
  Kernel fresh;    // launched
  Kernel resting;  // deactivated; a message waits in it
  Kernel busy;     // active, where there is another work-group for it
  Error error;
};
LateSwap swap_late(const std::string& backend, const RuntimeOptions& options) {
  std::string last;
  for (std::uint64_t turns = 100'000'000; turns < 10'000'000'000; turns *= 2) {
    auto runtime = OnEachBackend::open_on(backend, options).value();
    runtime.add_program(bank_with_slow(state_1, source_1)).value();
    const auto launch = [&](const char* id, const char* behaviour) {
      return runtime.launch(id, {.program = "bank", .behaviour = behaviour}).value();
    };
    Kernel resting = launch("resting", "Account");
    Kernel slow = launch("slow", "Slow");
    Kernel busy = options.work_groups == 2 ? launch("busy", "Account") : Kernel();
    Kernel fresh = launch("fresh", "Account");
    for (Kernel* const kernel : {&resting, &slow}) kernel->activate().value();
    if (options.work_groups == 2) busy.activate().value();
    while (!resting.deactivate()) std::this_thread::yield();
    (void)resting.send(Message{resting.method("Pay").value(), Deposit(1).bytes()}).value();
    (void)slow.send(Message{slow.method("Wait").value(), Deposit(turns).bytes()}).value();
    const auto swapped = runtime.swap_program(bank_with_slow(state_2, source_2));
    (void)slow.receive(std::chrono::minutes(5)).value();
    last = swapped ? "it ended in time" : swapped.error().text();
    const auto names = [&](const char* id) { return last.find(id) != std::string::npos; };
    if (options.work_groups == 2 ? names("'busy'") : names("'fresh'") && names("'resting'"))
      return {std::move(runtime), fresh, resting, busy, swapped.error()};
    end_program(runtime, "bank");
  }
  throw std::runtime_error("no swap was late: " + last);
}

void expect_only_terminates(RingKernelRuntime& runtime, Kernel kernel) {
  const std::string id = kernel.id();
  const auto expect_refused = [&](const auto& result) {
    ASSERT_FALSE(result) << id;
    EXPECT_EQ(result.error(), Errc::state_mismatch) << result.error().text();
    EXPECT_THAT(result.error().text(), HasSubstr("the state of kernel '" + id + "'"));
  };
  EXPECT_EQ(kernel.status(), KernelStatus::failed);
  expect_refused(kernel.call(Message{kernel.method("Pay").value(), Deposit(1).bytes()}));
  expect_refused(kernel.send(Message{kernel.method("Pay").value(), Deposit(1).bytes()}));
  expect_refused(kernel.receive(std::chrono::seconds(30)));
  expect_refused(kernel.activate());
  expect_refused(kernel.deactivate());
  expect_refused(kernel.read_state<std::uint32_t>());
  ASSERT_TRUE(kernel.terminate({.timeout = std::chrono::minutes(1)})) << id;
  Kernel again =
      runtime.launch(id, {.program = "bank", .behaviour = "Account", .auto_activate = true})
          .value();
  EXPECT_EQ(SwapWithSchema::pay(again, 1), R"({"cents": 100})");
}

TEST_P(SwapWithSchema, AStateThatIsNotMigratedInTimeCanOnlyBeTerminated) {
  LateSwap late = swap_late(GetParam(), {.termination_timeout = std::chrono::milliseconds(20)});
  EXPECT_THAT(late.error.text(),
              AllOf(HasSubstr("version 2 from its next slice on"),
                    HasSubstr("not migrated, and can only be terminated: "), HasSubstr("'fresh'"),
                    HasSubstr("'resting'"), Not(HasSubstr("'slow'"))));
  expect_only_terminates(late.runtime, late.resting);
  expect_only_terminates(late.runtime, late.fresh);
  end_program(late.runtime, "bank");
}

TEST(SwapOfAPool, AnActiveKernelIsNotMigratedInTime) {
  // A work-group that has parked is back with the next slice only, and that waits for the handler.
  LateSwap late = swap_late("native", {.park_after = std::chrono::minutes(1),
                                       .transfer = Transfer::zero_copy,
                                       .work_groups = 2,
                                       .termination_timeout = std::chrono::milliseconds(20)});
  EXPECT_THAT(late.error.text(), HasSubstr("'busy'"));
  expect_only_terminates(late.runtime, late.busy);
  end_program(late.runtime, "bank");
}

/// One that ends while states are made anew handles its messages behind that.
TEST_P(SwapWithSchema, ADrainingEndGoesOnBehindTheMigration) {
  const Deposit deposit(1);
  auto runtime = open_bank();
  std::vector<Kernel> kernels;
  for (int i = 0; i < 4; ++i)
    kernels.push_back(active(runtime, "k" + std::to_string(i), {.program = "bank"}));
  Kernel& last = kernels.back();
  // So slow that the last state waits for those before it.
  std::string slow = source_2;
  slow.insert(slow.find("  state->cents ="),
              "  RK_GLOBAL volatile rk_u64* turns = &state->deposits;\n"
              "  for (*turns = 0; *turns < 3000000u;) *turns += 1;\n"
              "  *turns = 0;\n");
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    // From here on states are made anew.
    while (runtime.program("bank")->version == 1 && !is_over) std::this_thread::yield();
    const Method pay = last.method("Pay").value();
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(last.send(Message{pay, deposit.bytes()}));
    EXPECT_TRUE(last.terminate({.drain = true}));
  });
  const auto swapped =
      runtime.swap_program(bank(std::string(messages) + state_2 + service, slow.c_str()));
  is_over = true;
  other.join();
  ASSERT_TRUE(swapped) << swapped.error().text();
  for (int i = 0; i < 20; ++i) {
    const auto reply = last.receive(std::chrono::seconds(10));
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->version(), 2u);
  }
}

/// Each message is on one of the two states, and none is on a state that is being made.
TEST_P(SwapWithSchema, MigratesUnderLoad) {
  const Deposit deposit(1);
  for (int round = 0; round < 10; ++round) {
    auto runtime = open_bank();
    Kernel kernel = active(runtime, "a", {.program = "bank"});
    const Message message{kernel.method("Pay").value(), deposit.bytes()};
    std::atomic<bool> swapped{false};
    std::uint64_t sent = 0;
    std::string wrong;
    std::atomic<bool> is_over{false};
    std::thread sender([&] {
      for (int behind = 0; behind < 50 && wrong.empty(); behind += swapped ? 1 : 0) {
        constexpr int batch = 4;  // so that messages wait in the ring
        for (int i = 0; i < batch && wrong.empty(); ++i)
          if (const auto id = kernel.send(message); !id) wrong = id.error().text();
        for (int i = 0; i < batch && wrong.empty(); ++i)
          if (const auto reply = kernel.receive(std::chrono::seconds(30)); !reply)
            wrong = reply.error().text();
        sent += batch;
      }
      is_over = true;
    });
    while (kernel.metrics().replied < 20 && !is_over) std::this_thread::yield();
    const auto result = runtime.swap_program(bank_2());
    swapped = true;
    sender.join();
    ASSERT_TRUE(result) << result.error().text();
    ASSERT_EQ(wrong, "");
    ASSERT_TRUE(kernel.deactivate());
    ASSERT_EQ(kernel.read_state<Account2>()->cents, sent * 100) << "round " << round;
  }
}

TEST_P(SwapWithSchema, WhatDoesNotFitIsListed) {
  auto runtime = open_bank();
  // With no kernel of it, all is well.
  ASSERT_TRUE(runtime.swap_program(bank_2()));
  ASSERT_TRUE(runtime.swap_program(bank_1()));
  Kernel kernel = active(runtime, "a", {.program = "bank"});
  const std::string text = messages;
  EXPECT_THAT(refusal(runtime, text +
                                   "struct AccountState (state_of: \"Account\", version: 1) "
                                   "{ cents: uint; }\n" +
                                   service),
              AllOf(HasSubstr("bank.AccountState has other fields"), HasSubstr("than 1")));
  EXPECT_THAT(refusal(runtime, text +
                                   "struct AccountState (state_of: \"Account\", version: 2) "
                                   "{ euros: uint; }\n" +
                                   service),
              HasSubstr("no attribute migrates"));
  EXPECT_THAT(refusal(runtime,
                      text +
                          "struct Old { euros: ulong; }\n"
                          "struct AccountState (state_of: \"Account\", version: 2, "
                          "migrates: \"Old\") { euros: uint; }\n" +
                          service,
                      source_2),
              HasSubstr("bank.Old, which bank.AccountState migrates, has other fields"));
  EXPECT_THAT(refusal(runtime, text + service), HasSubstr("bank.Account has no state any more"));
  EXPECT_THAT(refusal(runtime, text + state_1 + "rpc_service Account { Give(Deposit): Balance; }\n",
                      "#include \"bank.rk.h\"\nRK_ON(Account, Give) { return RK_OK; }\n"),
              HasSubstr("bank.Account.Pay is missing"));
  EXPECT_THAT(refusal(runtime, text + state_1 + "rpc_service Account { Pay(Balance): Balance; }\n"),
              HasSubstr("bank.Account.Pay takes bank.Balance, before it took bank.Deposit"));
  EXPECT_THAT(
      refusal(runtime, "table Deposit { amount: uint; }\ntable Balance { cents: ulong; }\n" +
                           std::string(state_1) + service),
      HasSubstr("bank.Deposit.amount is u32 = 0, before it was u64 = 0"));
  EXPECT_THAT(refusal(runtime,
                      "table Deposit { amount: ulong; }\n"
                      "table Balance { cents: ulong; deposits: ulong; }\n" +
                          std::string(state_1) + service),
              AllOf(HasSubstr("bank.Account.Pay has replies of"), HasSubstr("add a method")));
  EXPECT_THAT(refusal(runtime,
                      "table Deposit { amount: ulong; from: string (required); }\n"
                      "table Balance { cents: ulong; }\n" +
                          std::string(state_1) + service),
              HasSubstr("bank.Deposit.from is required"));
  EXPECT_THAT(refusal(runtime,
                      "table Deposit { note: ulong; amount: ulong; }\n"
                      "table Balance { cents: ulong; }\n" +
                          std::string(state_1) + service),
              HasSubstr("bank.Deposit.note has the place that bank.Deposit.amount had"));
  EXPECT_EQ(pay(kernel, 1), R"({"cents": 100})") << "it was changed";
}

TEST_P(SwapWithSchema, ASchemaMayGrow) {
  auto runtime = open_bank();
  Kernel kernel = active(runtime, "a", {.program = "bank"});
  EXPECT_EQ(pay(kernel, 1), R"({"cents": 100})");
  const auto before = kernel.method("Count");
  EXPECT_EQ(before.error(), Errc::unknown_method);
  const std::string schema =
      "table Deposit { amount: ulong; bonus: ulong = 7; }\ntable Balance { cents: ulong; }\n"
      "table Nothing { }\ntable Number { value: ulong; }\n" +
      std::string(state_1) +
      "rpc_service Account { Pay(Deposit): Balance; Count(Nothing): Number; }\n"
      "rpc_service Other { Count(Nothing): Number; }\n";
  const auto swapped = runtime.swap_program(bank(schema, R"(
#include "bank.rk.h"
RK_ON(Account, Pay) {
  reply->cents = (state->euros += (rk_u32)Deposit_amount(request)) * 100 + Deposit_bonus(request);
  return RK_OK;
}
RK_ON(Account, Count) { reply->value = state->euros; return RK_OK; }
RK_ON(Other, Count) { reply->value = 77; return RK_OK; }
)"));
  ASSERT_TRUE(swapped) << swapped.error().text();
  EXPECT_EQ(pay(kernel, 1), R"({"cents": 207})");
  JsonCodec codec = JsonCodec::open(bank_schema(schema), "Account").value();
  EXPECT_EQ(call_json(kernel, codec, "Count", "{}").value(), R"({"value": 2})");
  const auto methods = kernel.metrics().methods;
  ASSERT_EQ(methods.size(), 2u) << "the new one is counted";
  EXPECT_EQ(methods[0].answered, 2u) << "and the old one goes on";
  EXPECT_EQ(methods[1].name, "Count");
  {
    Kernel other = runtime.launch("b", {.program = "bank", .behaviour = "Other"}).value();
    const auto used = runtime.swap_back("bank");
    EXPECT_EQ(used.error(), Errc::incompatible_program);
    EXPECT_THAT(used.error().text(), HasSubstr("bank.Other is missing"));
    ASSERT_TRUE(other.terminate());
  }
  // Back to what knew less: what it did not know is refused.
  const auto back = runtime.swap_back("bank");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(pay(kernel, 1), R"({"cents": 300})");
  EXPECT_EQ(call_json(kernel, codec, "Count", "{}").error(), Errc::unknown_method);
}

/// A version that came while there was no kernel may be another interface: then nobody goes back.
TEST_P(SwapWithSchema, TheWayBackIsComparedToo) {
  auto runtime = open_bank();
  ASSERT_TRUE(runtime.swap_program(
      bank("table Deposit { amount: uint; }\ntable Balance { cents: ulong; }\n" +
               std::string(state_1) + service,
           source_1)));
  Kernel kernel = runtime.launch("a", {.program = "bank"}).value();
  const auto back = runtime.swap_back("bank");
  EXPECT_EQ(back.error(), Errc::incompatible_program);
  EXPECT_THAT(back.error().text(), HasSubstr("bank.Deposit.amount is u64 = 0"));
  ASSERT_TRUE(kernel.terminate());
  EXPECT_TRUE(runtime.swap_back("bank"));
}

TEST_P(SwapWithSchema, TheSourceAloneKeepsTheSchema) {
  auto runtime = open_bank();
  Kernel kernel = active(runtime, "a", {.program = "bank"});
  std::string doubled = source_1;
  doubled.replace(doubled.find("* 100"), 5, "* 200");
  const auto swapped =
      runtime.swap_program({.name = "bank", .source = Source::text("bank.rk.cl", doubled)});
  ASSERT_TRUE(swapped) << swapped.error().text();
  EXPECT_EQ(pay(kernel, 1), R"({"cents": 200})");
}

TEST_P(SwapWithSchema, AMissingMigrationIsOneLine) {
  auto runtime = open_bank();
  const auto swapped = runtime.swap_program(bank(std::string(messages) + state_2 + service,
                                                 "#include \"bank.rk.h\"\n"
                                                 "RK_ON(Account, Pay) { return RK_OK; }\n"));
  ASSERT_FALSE(swapped);
  EXPECT_EQ(swapped.error(), Errc::build_failed);
  EXPECT_THAT(swapped.error().text(), HasSubstr("no RK_MIGRATE(Account) in bank.rk.cl"));
}

}  // namespace
}  // namespace ringkernel::test
