// Programs of one's own from C: adding them, their methods and states, and nonsense.
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "ringkernel/ringkernel_async.h"
#include "ringkernel/ringkernel_metrics.h"
#include "support/registry.hpp"
#include "support/skip.hpp"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t timeout_ns = 1'000'000'000;

constexpr const char* counter = R"(
RK_ON_BYTES {
  RK_GLOBAL rk_u64* count = (RK_GLOBAL rk_u64*)state;
  if (rk_request_length(self) == 0) return rk_fault(self, 9, *count);
  *count += rk_request_length(self);
  *(RK_GLOBAL rk_u64*)rk_reply_bytes(self) = *count;
  rk_reply_length(self, 8);
  return RK_OK;
}
)";

constexpr const char* shop = R"(
#include "shop.rk.h"
RK_ON(Till, Buy) {
  state->purchases += 1;
  reply->purchases = state->purchases;
  return RK_OK;
}
RK_ON(Till, Total) { return rk_fault(self, 4, state->purchases); }
RK_ON(Shelf, Put) { return RK_OK; }
)";

class ProgramsCapi : public ::testing::Test {
 protected:
  ProgramsCapi() = default;
  ~ProgramsCapi() override { (void)ringkernel_runtime_close(runtime_); }
  ProgramsCapi(const ProgramsCapi&) = delete;
  ProgramsCapi& operator=(const ProgramsCapi&) = delete;

  void SetUp() override { ASSERT_EQ(open("native"), RINGKERNEL_OK) << error(); }

  ringkernel_status open(const char* backend) {
    ringkernel_runtime_options options{};
    options.struct_size = sizeof options;
    options.backend = backend;
    return ringkernel_runtime_open(&options, &runtime_);
  }
  static std::string error() {
    const char* const text = ringkernel_last_error();
    return text == nullptr ? "none" : text;
  }
  static ringkernel_program counter_program() {
    ringkernel_program program{};
    program.struct_size = sizeof program;
    program.name = "counter";
    program.source_name = "counter.rk.cl";
    program.source = counter;
    program.state_bytes = 8;
    program.reply_bytes = 8;
    return program;
  }
  ringkernel_kernel* launch(const char* program, const char* behaviour) {
    ringkernel_kernel_options options{};
    options.struct_size = sizeof options;
    options.program = program;
    options.behaviour = behaviour;
    ringkernel_kernel* kernel = nullptr;
    EXPECT_EQ(ringkernel_kernel_launch(runtime_, "kernel", &options, &kernel), RINGKERNEL_OK)
        << error();
    EXPECT_EQ(ringkernel_kernel_activate(kernel), RINGKERNEL_OK) << error();
    return kernel;
  }

  static ringkernel_program shop_program() {
    ringkernel_program program{};
    program.struct_size = sizeof program;
    program.name = "shop";
    program.source_name = "shop.rk.cl";
    program.source = shop;
    program.schema_name = RK_SHOP_BINARY;
    return program;
  }

  ringkernel_runtime* runtime_ = nullptr;
};

class ProgramsCapiOnEach : public ProgramsCapi, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    const ringkernel_status status = open(GetParam());
    if (status == RINGKERNEL_E_backend_unavailable && !is_of_host_threads(GetParam()))
      RK_SKIP_WITHOUT(GetParam(), error());
    ASSERT_EQ(status, RINGKERNEL_OK) << error();
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, ProgramsCapiOnEach, ::testing::ValuesIn(backend_names()),
                         [](const auto& one) { return label_of(std::string_view(one.param)); });

TEST_P(ProgramsCapiOnEach, BytesGoInAndOut) {
  const ringkernel_program program = counter_program();
  ASSERT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_OK) << error();
  ringkernel_kernel* const kernel = launch("counter", nullptr);
  std::array<char, 3> text{};
  std::uint64_t count = 0;
  const ringkernel_bytes message{text.data(), text.size()};
  ringkernel_bytes reply{&count, sizeof count};
  for (std::uint64_t i = 1; i <= 5; ++i) {
    ASSERT_EQ(ringkernel_call_bytes(kernel, &message, timeout_ns, &reply), RINGKERNEL_OK)
        << error();
    EXPECT_EQ(count, 3 * i);
  }
  reply.data_bytes = 4;
  EXPECT_EQ(ringkernel_call_bytes(kernel, &message, timeout_ns, &reply),
            RINGKERNEL_E_message_too_large);
  EXPECT_EQ(reply.data_bytes, 8u);
  const ringkernel_bytes nothing{nullptr, 0};
  EXPECT_EQ(ringkernel_call_bytes(kernel, &nothing, timeout_ns, &reply),
            RINGKERNEL_E_handler_fault);
  std::uint64_t detail = 0;
  EXPECT_EQ(ringkernel_last_fault(&detail), 9u);
  EXPECT_EQ(detail, 15u) << "the refused message changed the state";
  EXPECT_EQ(ringkernel_kernel_activate(kernel), RINGKERNEL_E_invalid_state);
  EXPECT_EQ(ringkernel_last_fault(nullptr), 0u);
}

TEST_P(ProgramsCapiOnEach, ARestartBeginsAnew) {
  const ringkernel_program program = counter_program();
  ASSERT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_OK) << error();
  std::uint64_t count = 0;
  std::array<char, 3> text{};
  const ringkernel_bytes message{text.data(), text.size()};
  ringkernel_bytes reply{&count, sizeof count};
  for (int round = 0; round < 2; ++round) {
    ringkernel_kernel* const kernel = launch("counter", nullptr);
    ASSERT_EQ(ringkernel_call_bytes(kernel, &message, timeout_ns, &reply), RINGKERNEL_OK);
    EXPECT_EQ(count, 3u);
    ASSERT_EQ(ringkernel_runtime_restart(runtime_, "counter"), RINGKERNEL_OK) << error();
    EXPECT_EQ(ringkernel_call_bytes(kernel, &message, timeout_ns, &reply),
              RINGKERNEL_E_kernel_terminated);
    EXPECT_EQ(ringkernel_kernel_close(kernel), RINGKERNEL_OK) << error();
  }
  EXPECT_EQ(ringkernel_runtime_restart(runtime_, "core"), RINGKERNEL_OK) << "not in use yet";
  EXPECT_EQ(ringkernel_runtime_restart(runtime_, "counted"), RINGKERNEL_E_program_not_found);
  EXPECT_EQ(ringkernel_runtime_restart(runtime_, nullptr), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_runtime_restart(nullptr, "counter"), RINGKERNEL_E_invalid_argument);
}

TEST_F(ProgramsCapi, AHandlerThatWritesBeyondItsStateIsFoundIfItIsGuarded) {
  ringkernel_program program = counter_program();
  program.source = "RK_ON_BYTES { state[8] = 1; return RK_OK; }\n";
  ASSERT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_OK) << error();
  ringkernel_kernel* const kernel = launch("counter", nullptr);
  std::uint64_t room = 0;
  const ringkernel_bytes message{nullptr, 0};
  ringkernel_bytes reply{&room, sizeof room};
  EXPECT_EQ(ringkernel_call_bytes(kernel, &message, timeout_ns, &reply), RINGKERNEL_OK) << error();
  program.guard = 1;
  ASSERT_EQ(ringkernel_program_swap(runtime_, &program, nullptr), RINGKERNEL_OK) << error();
  EXPECT_EQ(ringkernel_call_bytes(kernel, &message, timeout_ns, &reply),
            RINGKERNEL_E_program_overran);
  EXPECT_THAT(error(), HasSubstr("'kernel': beyond its state"));
}

TEST_P(ProgramsCapiOnEach, AStateIsReadAndWritten) {
  const ringkernel_program program = counter_program();
  ASSERT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_OK) << error();
  ringkernel_kernel* const kernel = launch("counter", nullptr);
  std::uint64_t count = 1000;
  const ringkernel_bytes state{&count, sizeof count};
  EXPECT_EQ(ringkernel_kernel_write_state(kernel, &state), RINGKERNEL_E_invalid_state);
  ASSERT_EQ(ringkernel_kernel_deactivate(kernel), RINGKERNEL_OK);
  ASSERT_EQ(ringkernel_kernel_write_state(kernel, &state), RINGKERNEL_OK) << error();
  count = 0;
  ASSERT_EQ(ringkernel_kernel_read_state(kernel, &state), RINGKERNEL_OK) << error();
  EXPECT_EQ(count, 1000u);
  const ringkernel_bytes half{&count, 4};
  EXPECT_EQ(ringkernel_kernel_read_state(kernel, &half), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_kernel_read_state(kernel, nullptr), RINGKERNEL_E_invalid_argument);
}

TEST_P(ProgramsCapiOnEach, AProgramIsSwappedAndSwappedBack) {
  ringkernel_program program = counter_program();
  ringkernel_swap swap{};
  EXPECT_EQ(ringkernel_program_swap(runtime_, &program, &swap), RINGKERNEL_E_program_not_found);
  ASSERT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_OK) << error();
  EXPECT_EQ(ringkernel_program_swap_back(runtime_, "counter", &swap), RINGKERNEL_E_invalid_state);
  ringkernel_kernel* const kernel = launch("counter", nullptr);
  std::array<char, 3> text{};
  std::uint64_t count = 0;
  const ringkernel_bytes message{text.data(), text.size()};
  ringkernel_bytes reply{&count, sizeof count};
  ASSERT_EQ(ringkernel_call_bytes(kernel, &message, timeout_ns, &reply), RINGKERNEL_OK) << error();
  EXPECT_EQ(ringkernel_last_version(), 1u);
  program.source =
      "RK_ON_BYTES {\n"
      "  *(RK_GLOBAL rk_u64*)rk_reply_bytes(self) = *(RK_GLOBAL rk_u64*)state + 1000;\n"
      "  return RK_OK;\n"
      "}\n";
  program.state_bytes = program.reply_bytes = 0;  // as before
  ASSERT_EQ(ringkernel_program_swap(runtime_, &program, &swap), RINGKERNEL_OK) << error();
  EXPECT_EQ(swap.version, 2u);
  EXPECT_EQ(swap.migrated, 0u);
  ASSERT_EQ(ringkernel_call_bytes(kernel, &message, timeout_ns, &reply), RINGKERNEL_OK) << error();
  EXPECT_EQ(count, 1003u);
  EXPECT_EQ(ringkernel_last_version(), 2u);
  ringkernel_program_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(ringkernel_program_describe(runtime_, "counter", &info), RINGKERNEL_OK) << error();
  EXPECT_EQ(info.version, 2u);
  EXPECT_EQ(ringkernel_last_version(), 0u) << "no reply";
  ASSERT_EQ(ringkernel_send_bytes(kernel, &message, timeout_ns, nullptr), RINGKERNEL_OK);
  ASSERT_EQ(ringkernel_receive_bytes(kernel, 10 * timeout_ns, &reply, nullptr), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_last_version(), 2u);
  ASSERT_EQ(ringkernel_program_swap_back(runtime_, "counter", nullptr), RINGKERNEL_OK) << error();
  ASSERT_EQ(ringkernel_call_bytes(kernel, &message, timeout_ns, &reply), RINGKERNEL_OK) << error();
  EXPECT_EQ(count, 6u);
  program.state_bytes = 16;
  EXPECT_EQ(ringkernel_program_swap(runtime_, &program, &swap), RINGKERNEL_E_incompatible_program);
  EXPECT_EQ(ringkernel_program_swap_back(runtime_, nullptr, nullptr),
            RINGKERNEL_E_invalid_argument);
}

TEST_P(ProgramsCapiOnEach, MethodsAreCalledByTheirNames) {
  std::ifstream file(RK_SHOP_BINARY, std::ios::binary);
  const std::string schema{std::istreambuf_iterator<char>(file), {}};
  ringkernel_program program = counter_program();
  program.name = "shop";
  program.source_name = "shop.rk.cl";
  program.source = shop;
  program.state_bytes = program.reply_bytes = 0;
  program.schema_name = "shop.fbs";
  program.schema = schema.data();
  program.schema_bytes = schema.size();
  ASSERT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_OK) << error();
  ringkernel_kernel* const kernel = launch("shop", "Till");
  ringkernel_method buy{}, total{}, none{};
  ASSERT_EQ(ringkernel_kernel_method(kernel, "Buy", &buy), RINGKERNEL_OK) << error();
  ASSERT_EQ(ringkernel_kernel_method(kernel, "shop.Till.Total", &total), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_kernel_method(kernel, "Sell", &none), RINGKERNEL_E_unknown_method);
  EXPECT_THAT(error(), HasSubstr("Buy, Total"));
  // The smallest table: a root, an empty vtable, a table without fields.
  std::array<std::uint8_t, 12> empty{8, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0, 0};
  const ringkernel_bytes request{empty.data(), empty.size()};
  std::string room(buy.reply_bytes, ' ');
  ringkernel_bytes reply{room.data(), room.size()};
  ASSERT_EQ(ringkernel_call_method(kernel, &buy, &request, timeout_ns, &reply), RINGKERNEL_OK)
      << error();
  EXPECT_LT(reply.data_bytes, buy.reply_bytes) << "it has no lines";
  reply.data_bytes = room.size();
  ASSERT_EQ(ringkernel_send_method(kernel, &buy, &request, timeout_ns, nullptr), RINGKERNEL_OK);
  ASSERT_EQ(ringkernel_receive_bytes(kernel, 10 * timeout_ns, &reply, nullptr), RINGKERNEL_OK);
  std::uint64_t detail = 0;
  reply.data_bytes = room.size();
  EXPECT_EQ(ringkernel_call_method(kernel, &total, &request, timeout_ns, &reply),
            RINGKERNEL_E_handler_fault)
      << error();
  EXPECT_EQ(ringkernel_last_fault(&detail), 4u);
  EXPECT_EQ(detail, 2u);
  EXPECT_EQ(ringkernel_call_bytes(kernel, &request, timeout_ns, &reply),
            RINGKERNEL_E_unsupported_operation);
}

/// Without waiting: what a handler says comes with the completion, to the thread that takes it.
TEST_P(ProgramsCapiOnEach, MethodsAreCalledAsynchronously) {
  const ringkernel_program program = shop_program();
  ASSERT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_OK) << error();
  ringkernel_kernel* const kernel = launch("shop", "Till");
  ringkernel_method buy{}, total{};
  ASSERT_EQ(ringkernel_kernel_method(kernel, "Buy", &buy), RINGKERNEL_OK) << error();
  ASSERT_EQ(ringkernel_kernel_method(kernel, "Total", &total), RINGKERNEL_OK);
  ringkernel_queue* queue = nullptr;
  ASSERT_EQ(ringkernel_queue_open(&queue), RINGKERNEL_OK) << error();
  std::array<std::uint8_t, 12> empty{8, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0, 0};
  const ringkernel_bytes request{empty.data(), empty.size()};
  std::string room(buy.reply_bytes, ' ');
  ringkernel_bytes reply{room.data(), 1};
  const auto begin = [&](const ringkernel_method* method) {
    return ringkernel_call_method_async(kernel, method, &request, nullptr, queue, 5, &reply);
  };
  EXPECT_EQ(begin(&buy), RINGKERNEL_E_message_too_large);
  EXPECT_EQ(reply.data_bytes, buy.reply_bytes);
  EXPECT_EQ(begin(nullptr), RINGKERNEL_E_invalid_argument);
  ASSERT_EQ(begin(&buy), RINGKERNEL_OK) << error();
  ringkernel_completion ended{};
  ended.struct_size = sizeof ended;
  ASSERT_EQ(ringkernel_queue_next(queue, 60 * timeout_ns, &ended), RINGKERNEL_OK) << error();
  EXPECT_EQ(ended.status, RINGKERNEL_OK) << error();
  EXPECT_LT(reply.data_bytes, buy.reply_bytes);
  EXPECT_EQ(ringkernel_last_version(), 1u) << "of the reply, to the thread that takes it";
  reply.data_bytes = room.size();
  ASSERT_EQ(begin(&total), RINGKERNEL_OK) << error();
  ASSERT_EQ(ringkernel_queue_next(queue, 60 * timeout_ns, &ended), RINGKERNEL_OK) << error();
  EXPECT_EQ(ended.status, RINGKERNEL_E_handler_fault);
  std::uint64_t detail = 0;
  EXPECT_EQ(ringkernel_last_fault(&detail), 4u);
  EXPECT_EQ(detail, 1u);
  EXPECT_EQ(ringkernel_last_version(), 0u) << "no reply";
  EXPECT_EQ(ringkernel_queue_close(queue), RINGKERNEL_OK);
  ringkernel_method_figures figures{};
  figures.struct_size = sizeof figures;
  ASSERT_EQ(ringkernel_kernel_method_metrics(kernel, &total, &figures), RINGKERNEL_OK) << error();
  EXPECT_EQ(figures.answered, 1u);
  EXPECT_EQ(figures.faults, 1u);
}

TEST_P(ProgramsCapiOnEach, AnActiveKernelTellsItsStateAsJson) {
  const ringkernel_program program = shop_program();
  ASSERT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_OK) << error();
  ringkernel_kernel* const kernel = launch("shop", "Till");
  ringkernel_method buy{};
  ASSERT_EQ(ringkernel_kernel_method(kernel, "Buy", &buy), RINGKERNEL_OK) << error();
  std::array<std::uint8_t, 12> empty{8, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0, 0};
  const ringkernel_bytes request{empty.data(), empty.size()};
  std::string room(buy.reply_bytes, ' ');
  ringkernel_bytes reply{room.data(), room.size()};
  ASSERT_EQ(ringkernel_call_method(kernel, &buy, &request, timeout_ns, &reply), RINGKERNEL_OK)
      << error();
  const char* json = nullptr;
  ASSERT_EQ(ringkernel_kernel_state_json(kernel, &json), RINGKERNEL_OK) << error();
  EXPECT_THAT(json, HasSubstr("\"purchases\": 1"));
  EXPECT_EQ(ringkernel_kernel_state_json(kernel, nullptr), RINGKERNEL_E_invalid_argument);
  ASSERT_EQ(ringkernel_kernel_terminate(kernel, 0), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_kernel_state_json(kernel, &json), RINGKERNEL_E_invalid_state);
}

TEST_F(ProgramsCapi, AProgramTellsItsBehavioursAndMethods) {
  const ringkernel_program program = shop_program();
  ASSERT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_OK) << error();
  ringkernel_program_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(ringkernel_program_describe(runtime_, "shop", &info), RINGKERNEL_OK) << error();
  EXPECT_EQ(info.version, 1u);
  EXPECT_EQ(info.takes_ops, 0u);
  EXPECT_THAT(info.header, HasSubstr("RK_ON_Till_Buy"));
  ASSERT_EQ(info.behaviour_count, 2u);
  const ringkernel_behaviour_info& shelf = *info.behaviours[0];
  const ringkernel_behaviour_info& till = *info.behaviours[1];
  EXPECT_STREQ(shelf.name, "Shelf");
  EXPECT_EQ(shelf.state_version, 3u);
  ASSERT_EQ(shelf.method_count, 1u);
  EXPECT_STREQ(shelf.methods[0]->reply, "shop.Level");
  EXPECT_STREQ(till.name, "Till");
  EXPECT_STREQ(till.state, "shop.TillState");
  EXPECT_EQ(till.state_bytes, 16u);
  ASSERT_EQ(till.method_count, 2u);
  EXPECT_STREQ(till.methods[0]->name, "Buy");
  EXPECT_STREQ(till.methods[0]->request, "shop.Purchase");
  EXPECT_STREQ(till.methods[1]->name, "Total");
  ringkernel_kernel* const kernel = launch("shop", "Till");
  ringkernel_method buy{};
  ASSERT_EQ(ringkernel_kernel_method(kernel, "Buy", &buy), RINGKERNEL_OK) << error();
  EXPECT_EQ(till.methods[0]->id, buy.id);
  EXPECT_EQ(till.methods[0]->reply_bytes, buy.reply_bytes);
  ASSERT_EQ(ringkernel_program_describe(runtime_, "core", &info), RINGKERNEL_OK) << error();
  EXPECT_EQ(info.takes_ops, 1u);
  EXPECT_EQ(info.behaviour_count, 0u);
  EXPECT_STREQ(info.header, "");
  EXPECT_EQ(ringkernel_program_describe(runtime_, "shops", &info), RINGKERNEL_E_program_not_found);
  EXPECT_EQ(ringkernel_program_describe(runtime_, nullptr, &info), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_program_describe(runtime_, "shop", nullptr), RINGKERNEL_E_invalid_argument);
}

TEST_F(ProgramsCapi, RefusesNullAndNonsense) {
  EXPECT_EQ(ringkernel_program_add(runtime_, nullptr), RINGKERNEL_E_invalid_argument);
  ringkernel_program program = counter_program();
  EXPECT_EQ(ringkernel_program_add(nullptr, &program), RINGKERNEL_E_invalid_argument);
  program.name = nullptr;
  EXPECT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_E_invalid_argument);
  program = counter_program();
  program.source_name = nullptr;
  EXPECT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_E_invalid_argument);
  program = counter_program();
  program.source = "this is no C";
  EXPECT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_E_build_failed);
  EXPECT_THAT(error(), HasSubstr("counter.rk.cl:1"));
  program = counter_program();
  ASSERT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_OK) << error();
  ringkernel_kernel* const kernel = launch("counter", nullptr);
  ringkernel_method method{};
  EXPECT_EQ(ringkernel_kernel_method(kernel, nullptr, &method), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_kernel_method(kernel, "Buy", nullptr), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_kernel_method(kernel, "Buy", &method), RINGKERNEL_E_unsupported_operation);
  EXPECT_EQ(ringkernel_call_method(kernel, nullptr, nullptr, 0, nullptr),
            RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_send_method(kernel, &method, nullptr, 0, nullptr),
            RINGKERNEL_E_invalid_argument);
}

}  // namespace
}  // namespace ringkernel::test
