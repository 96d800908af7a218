// Calls and states in JSON, by a schema that is read as text.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>

#include "ringkernel/json.hpp"
#include "ringkernel/schema_text.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;

class ProgramsInJson : public OnEachBackend {
 public:
  static Schema schema() {
    std::ifstream file(RK_SHOP_TEXT, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return schema_from_text("shop.fbs", text).value();
  }
  static RingKernelRuntime open_shop() {
    auto runtime = open_on(GetParam()).value();
    const auto added = runtime.add_program(
        {.name = "shop", .source = Source::file(RK_SHOP_SOURCE), .schema = schema()});
    EXPECT_TRUE(added) << added.error().text();
    return runtime;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, ProgramsInJson, ::testing::ValuesIn(backend_names()),
                         backend_label);

TEST_P(ProgramsInJson, CallsAreAnsweredInJson) {
  auto runtime = open_shop();
  Kernel till = active(runtime, "till", {.program = "shop", .behaviour = "Till"});
  JsonCodec codec = JsonCodec::of(till).value();
  EXPECT_EQ(call_json(till, codec, "Buy",
                      R"({"id": 7, "lines": [{"price": 1.5, "quantity": 2}], "coupon": "x"})")
                .value(),
            R"({"id": 7,"purchases": 1,"total": 3.0,"lines": [{"price": 1.5,"quantity": 2}]})");
  EXPECT_EQ(call_json(till, codec, "shop.Till.Total", "{}").value(),
            R"({"purchases": 1,"total": 3.0,"coupons": 1})");
}

TEST_P(ProgramsInJson, ErrorsAreThoseOfACall) {
  auto runtime = open_shop();
  Kernel till = active(runtime, "till", {.program = "shop", .behaviour = "Till"});
  JsonCodec codec = JsonCodec::open(schema(), "Till").value();
  const auto fault = call_json(till, codec, "Buy", R"({"id": 9})");
  EXPECT_EQ(fault.error(), Errc::handler_fault);
  EXPECT_EQ(fault.error().fault_detail, 9U);
  EXPECT_EQ(call_json(till, codec, "Sell", "{}").error(), Errc::unknown_method);
  EXPECT_EQ(call_json(till, codec, "Buy", R"({"ID": 9})").error(), Errc::malformed_request);
  // Of another behaviour than the kernel's.
  JsonCodec shelf = JsonCodec::open(schema(), "Shelf").value();
  EXPECT_EQ(call_json(till, shelf, "Put", "{}").error(), Errc::unknown_method);
}

TEST_P(ProgramsInJson, StatesAreReadAndWritten) {
  auto runtime = open_shop();
  Kernel till = active(runtime, "till", {.program = "shop", .behaviour = "Till"});
  JsonCodec codec = JsonCodec::open(schema(), "Till").value();
  EXPECT_EQ(read_state_json(till, codec).error(), Errc::invalid_state);
  ASSERT_TRUE(till.deactivate());
  EXPECT_EQ(read_state_json(till, codec).value(), R"({"purchases": 0,"total": 0.0,"coupons": 0})");
  ASSERT_TRUE(write_state_json(till, codec, R"({"purchases": 41, "total": 0.5, "coupons": 3})"));
  ASSERT_TRUE(till.activate());
  EXPECT_THAT(call_json(till, codec, "Total", "{}").value(), HasSubstr(R"("purchases": 41)"));
}

}  // namespace
}  // namespace ringkernel::test
