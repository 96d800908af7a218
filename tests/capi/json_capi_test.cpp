// JSON from C: schemas as text, calls, states, and nonsense.
#include <gmock/gmock.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "ringkernel/ringkernel_json.h"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;

constexpr std::uint64_t timeout_ns = 10'000'000'000;

constexpr const char* handlers = R"(
#include "shop.rk.h"
#include "fees.h"
RK_FAULT_TEXT(1, "a purchase without lines")
RK_ON(Till, Buy) {
  const LineSpan lines = Purchase_lines(request);
  if (lines.count == 0) return rk_fault(self, 1, Purchase_id(request));
  state->purchases += 1;
  reply->id = Purchase_id(request);
  reply->purchases = state->purchases;
  for (rk_u32 i = 0; i < lines.count; ++i) reply->total += lines.at[i].price + FEE;
  return RK_OK;
}
RK_ON(Till, Total) { return RK_OK; }
RK_ON(Shelf, Put) { return RK_OK; }
)";

std::string content(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string error() {
  const char* const text = ringkernel_json_last_error();
  return text == nullptr ? "none" : text;
}

class JsonCapi : public ::testing::Test {
 protected:
  JsonCapi() {
    ringkernel_runtime_options options{};
    options.struct_size = sizeof options;
    options.backend = "native";
    EXPECT_EQ(ringkernel_runtime_open(&options, &runtime_), RINGKERNEL_OK);
    ringkernel_bytes schema{};
    EXPECT_EQ(ringkernel_json_schema("shop.fbs", content(RK_SHOP_TEXT).c_str(), &schema),
              RINGKERNEL_OK)
        << error();
    const char* const header_name = "fees.h";
    const char* const header = "#define FEE 0.5f\n";
    ringkernel_program program{};
    program.struct_size = sizeof program;
    program.name = "shop";
    program.source_name = "shop.rk.cl";
    program.source = handlers;
    program.schema_name = "shop.fbs";
    program.schema = schema.data;
    program.schema_bytes = schema.data_bytes;
    program.header_names = &header_name;
    program.headers = &header;
    program.header_count = 1;
    EXPECT_EQ(ringkernel_program_add(runtime_, &program), RINGKERNEL_OK) << ringkernel_last_error();
    till_ = launch("Till");
    EXPECT_EQ(ringkernel_json_open(till_, &json_), RINGKERNEL_OK) << error();
  }
  ~JsonCapi() override {
    (void)ringkernel_json_close(json_);
    (void)ringkernel_runtime_close(runtime_);
  }
  JsonCapi(const JsonCapi&) = delete;
  JsonCapi& operator=(const JsonCapi&) = delete;

  ringkernel_kernel* launch(const char* behaviour) {
    ringkernel_kernel_options options{};
    options.struct_size = sizeof options;
    options.program = behaviour == nullptr ? "echo" : "shop";
    options.behaviour = behaviour;
    ringkernel_kernel* kernel = nullptr;
    EXPECT_EQ(ringkernel_kernel_launch(runtime_, behaviour == nullptr ? "echo" : behaviour,
                                       &options, &kernel),
              RINGKERNEL_OK)
        << ringkernel_last_error();
    EXPECT_EQ(ringkernel_kernel_activate(kernel), RINGKERNEL_OK);
    return kernel;
  }

  ringkernel_runtime* runtime_ = nullptr;
  ringkernel_kernel* till_ = nullptr;
  ringkernel_json* json_ = nullptr;
};

constexpr const char* purchase = R"({"id": 7, "lines": [{"price": 1.5, "quantity": 2}]})";

TEST_F(JsonCapi, CallsAreAnsweredInJson) {
  const char* reply = nullptr;
  ASSERT_EQ(ringkernel_json_call(json_, till_, "Buy", purchase, timeout_ns, &reply), RINGKERNEL_OK)
      << error();
  EXPECT_THAT(reply, StrEq(R"({"id": 7,"purchases": 1,"total": 2.0})"));
  EXPECT_EQ(ringkernel_json_last_error(), nullptr);
}

TEST_F(JsonCapi, WhatIsSentIsReceived) {
  ringkernel_method buy{};
  ASSERT_EQ(ringkernel_kernel_method(till_, "Buy", &buy), RINGKERNEL_OK);
  ringkernel_bytes request{};
  ASSERT_EQ(ringkernel_json_to_request(json_, "Buy", purchase, &request), RINGKERNEL_OK) << error();
  ASSERT_EQ(ringkernel_send_method(till_, &buy, &request, timeout_ns, nullptr), RINGKERNEL_OK);
  std::vector<char> room(buy.reply_bytes);
  ringkernel_bytes reply{room.data(), room.size()};
  ASSERT_EQ(ringkernel_receive_bytes(till_, timeout_ns, &reply, nullptr), RINGKERNEL_OK);
  const char* text = nullptr;
  ASSERT_EQ(ringkernel_json_from_reply(json_, "Buy", &reply, &text), RINGKERNEL_OK) << error();
  EXPECT_THAT(text, HasSubstr(R"("purchases": 1)"));
  reply.data_bytes = 5;
  EXPECT_EQ(ringkernel_json_from_reply(json_, "Buy", &reply, &text),
            RINGKERNEL_E_malformed_message);
  EXPECT_THAT(error(), HasSubstr("no shop.Receipt"));
}

TEST_F(JsonCapi, StatesAreReadAndWritten) {
  const char* state = nullptr;
  EXPECT_EQ(ringkernel_json_read_state(json_, till_, &state), RINGKERNEL_E_invalid_state);
  EXPECT_THAT(error(), HasSubstr("kernel 'Till' is active"));
  ASSERT_EQ(ringkernel_kernel_deactivate(till_), RINGKERNEL_OK);
  ASSERT_EQ(ringkernel_json_write_state(json_, till_, R"({"purchases": 41, "total": 0.5,
                                                          "coupons": 3})"),
            RINGKERNEL_OK)
      << error();
  ASSERT_EQ(ringkernel_json_read_state(json_, till_, &state), RINGKERNEL_OK) << error();
  EXPECT_THAT(state, StrEq(R"({"purchases": 41,"total": 0.5,"coupons": 3})"));
}

TEST_F(JsonCapi, ErrorsSayWhatAndWhere) {
  const char* reply = "untouched";
  EXPECT_EQ(ringkernel_json_call(json_, till_, "Buy", R"({"iid": 7})", timeout_ns, &reply),
            RINGKERNEL_E_malformed_request);
  EXPECT_THAT(error(), HasSubstr("unknown field: iid"));
  EXPECT_EQ(ringkernel_json_call(json_, till_, "Sell", "{}", timeout_ns, &reply),
            RINGKERNEL_E_unknown_method);
  EXPECT_THAT(error(), HasSubstr("no method 'Sell'; it has Buy, Total"));
  EXPECT_EQ(ringkernel_json_call(json_, till_, "Buy", R"({"id": 9})", timeout_ns, &reply),
            RINGKERNEL_E_handler_fault);
  EXPECT_THAT(error(),
              HasSubstr("'Till', shop.Till.Buy: code 1, detail 9: a purchase without lines"));
  std::uint64_t detail = 0;
  EXPECT_EQ(ringkernel_last_fault(&detail), 1u);
  EXPECT_EQ(detail, 9u);
  EXPECT_THAT(reply, StrEq("untouched"));
  ringkernel_bytes schema{};
  EXPECT_EQ(ringkernel_json_schema("bad.fbs", "table A { x: Nothing; }", &schema),
            RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(error(), HasSubstr("bad.fbs:1"));
}

TEST_F(JsonCapi, ACallThatIsNotSentHasNeitherAFaultNorAVersion) {
  const char* reply = nullptr;
  const auto fault = [&] {
    return ringkernel_json_call(json_, till_, "Buy", R"({"id": 9})", timeout_ns, &reply);
  };
  const auto answer = [&] {
    return ringkernel_json_call(json_, till_, "Buy", purchase, timeout_ns, &reply);
  };
  const auto expect_neither = [] {
    std::uint64_t detail = 5;
    EXPECT_EQ(ringkernel_last_fault(&detail), 0u);
    EXPECT_EQ(detail, 0u);
    EXPECT_EQ(ringkernel_last_version(), 0u);
  };
  for (const char* const wrong : {static_cast<const char*>(nullptr), "{", R"({"iid": 7})"}) {
    ASSERT_EQ(fault(), RINGKERNEL_E_handler_fault);
    EXPECT_EQ(ringkernel_last_fault(nullptr), 1u);
    EXPECT_NE(ringkernel_json_call(json_, till_, "Buy", wrong, timeout_ns, &reply), RINGKERNEL_OK);
    expect_neither();
    ASSERT_EQ(answer(), RINGKERNEL_OK) << error();
    EXPECT_EQ(ringkernel_last_version(), 1u);
    EXPECT_NE(ringkernel_json_call(json_, till_, "Buy", wrong, timeout_ns, &reply), RINGKERNEL_OK);
    expect_neither();
  }
  ASSERT_EQ(fault(), RINGKERNEL_E_handler_fault);
  EXPECT_EQ(ringkernel_json_call(nullptr, till_, "Buy", purchase, timeout_ns, &reply),
            RINGKERNEL_E_invalid_argument);
  expect_neither();
}

TEST_F(JsonCapi, AKernelWithoutASchemaHasNoJson) {
  ringkernel_json* json = nullptr;
  EXPECT_EQ(ringkernel_json_open(launch(nullptr), &json), RINGKERNEL_E_unsupported_operation);
  EXPECT_THAT(error(), HasSubstr("has no schema"));
  EXPECT_EQ(json, nullptr);
}

TEST_F(JsonCapi, ThreadsShareAHandle) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([this, thread] {
      for (int i = 0; i < 200; ++i) {
        const int id = thread * 1000 + i;
        const std::string request =
            R"({"id": )" + std::to_string(id) + R"(, "lines": [{"price": 1, "quantity": 1}]})";
        const char* reply = nullptr;
        ASSERT_EQ(ringkernel_json_call(json_, till_, "Buy", request.c_str(), timeout_ns, &reply),
                  RINGKERNEL_OK)
            << error();
        ASSERT_THAT(reply, HasSubstr("{\"id\": " + std::to_string(id) + ","));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(JsonCapi, NonsenseIsAnError) {
  const char* text = nullptr;
  ringkernel_bytes bytes{};
  EXPECT_EQ(ringkernel_json_open(nullptr, nullptr), RINGKERNEL_E_invalid_argument);
  ringkernel_json* json = nullptr;
  EXPECT_EQ(ringkernel_json_open(nullptr, &json), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_json_call(nullptr, till_, "Buy", purchase, timeout_ns, &text),
            RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(error(), HasSubstr("json is null"));
  EXPECT_EQ(ringkernel_json_call(json_, nullptr, "Buy", purchase, timeout_ns, &text),
            RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_json_call(json_, till_, nullptr, purchase, timeout_ns, &text),
            RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_json_call(json_, till_, "Buy", nullptr, timeout_ns, &text),
            RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_json_to_request(json_, "Buy", purchase, nullptr),
            RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_json_from_reply(json_, "Buy", nullptr, &text),
            RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_json_write_state(json_, till_, nullptr), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_json_schema(nullptr, "", &bytes), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_json_schema("a.fbs", nullptr, &bytes), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(text, nullptr);
  ASSERT_EQ(ringkernel_json_open(till_, &json), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_json_close(json), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_json_close(json), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(error(), HasSubstr("no live handle"));
}

}  // namespace
}  // namespace ringkernel::test
