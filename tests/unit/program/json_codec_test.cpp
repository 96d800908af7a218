#include <gmock/gmock.h>

#include <random>

#include "ringkernel/json.hpp"
#include "ringkernel/schema_text.hpp"
#include "unit/program/files.hpp"

namespace ringkernel::program::test {
namespace {

using ::testing::HasSubstr;

JsonCodec codec_of(const std::string& name, std::string_view behaviour = {}) {
  const std::string path = RK_TEST_SCHEMAS "/" + name + ".fbs";
  return JsonCodec::open(schema_from_text(path, read_file(path)).value(), behaviour).value();
}

std::string refusal(JsonCodec& codec, std::string_view method, std::string_view json) {
  const auto request = codec.to_request(method, json);
  return request ? "" : request.error().text();
}

constexpr std::string_view order =
    R"({"id": 77, "price": 12.5, "qty": 9, "side": "Sell", "legs": [{"price": 1.5, "qty": 2}]})";

TEST(JsonCodec, WritesWhatItsReaderGivesBack) {
  // Of a service whose request is also its reply.
  const ringkernel::Schema schema =
      schema_from_text("t.fbs",
                       "attribute \"max\";"
                       "enum E : byte { A, B } struct S { x: float; }\n"
                       "table T { n: ulong; e: E; s: [S] (max: 4);\n"
                       "  t: string (max: 9); o: int = null; b: bool = true; }\n"
                       "rpc_service R { M(T): T; }")
          .value();
  JsonCodec codec = JsonCodec::open(schema).value();
  const std::string json = R"({"n": 18446744073709551615,"e": "B","s": [{"x": 0.5},{"x": -2.0}],)"
                           R"("t": "\"\u00E4","o": null,"b": true})";
  EXPECT_EQ(codec.from_reply("M", codec.to_request("R.M", json).value()).value(), json);
  EXPECT_EQ(codec.from_reply("M", codec.to_request("M", "{}").value()).value(),
            R"({"n": 0,"e": "A","o": null,"b": true})");
}

TEST(JsonCodec, TellsWhereARequestIsWrong) {
  JsonCodec codec = codec_of("trading");
  EXPECT_EQ(refusal(codec, "Submit", order), "");
  EXPECT_THAT(refusal(codec, "Submit", "{\n \"quantity\": 1}"),
              ::testing::MatchesRegex("malformed_request: .*: Submit:2:[0-9]+: "
                                      "unknown field: quantity"));
  EXPECT_THAT(refusal(codec, "Submit", R"({"qty": -1})"), HasSubstr("does not fit"));
  EXPECT_THAT(refusal(codec, "Submit", R"({"side": "Hold"})"), HasSubstr("unknown enum value"));
  EXPECT_THAT(refusal(codec, "Submit", R"({"legs": [{"price": 1}]})"),
              HasSubstr("struct: wrong number of initializers: Leg"));
  EXPECT_THAT(refusal(codec, "Submit", R"({"id": 1)"), HasSubstr(": Submit:1:"));
  EXPECT_THAT(refusal(codec, "Submit", ""), HasSubstr(": Submit:1:0: input file is empty"));
  EXPECT_THAT(refusal(codec, "Submit", std::string_view("{\0}", 3)), HasSubstr("a zero byte"));
  EXPECT_EQ(refusal(codec, "Sumbit", "{}"),
            "unknown_method: the kernel's behaviour has no such method: trading.Book has no method "
            "'Sumbit'; it has Submit");
  JsonCodec sensor = codec_of("sensor", "Log");
  EXPECT_THAT(refusal(sensor, "Take", "{}"), HasSubstr("required field is missing: name"));
  // After errors it goes on.
  EXPECT_EQ(refusal(codec, "Submit", order), "");
}

TEST(JsonCodec, TakesNoSchemaFromACaller) {
  JsonCodec codec = codec_of("trading");
  EXPECT_NE(refusal(codec, "Submit", "include \"/etc/passwd\"; {}"), "");
  EXPECT_NE(refusal(codec, "Submit", "table T { x: int; } root_type T; {\"x\": 1}"), "");
}

TEST(JsonCodec, VerifiesReplies) {
  JsonCodec codec = codec_of("trading");
  std::vector<std::byte> bytes = codec.to_request("Submit", order).value();
  EXPECT_EQ(codec.from_reply("Submit", Bytes()).error(), Errc::malformed_message);
  std::mt19937 random(5);  // NOLINT: the same mutants each time
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> mutant = bytes;
    for (int i = 0; i < 3; ++i) mutant[random() % mutant.size()] = static_cast<std::byte>(random());
    mutant.resize(random() % 4 == 0 ? random() % mutant.size() : mutant.size());
    const auto json = codec.from_reply("Submit", mutant);
    if (!json) ++refused;
  }
  EXPECT_GT(refused, 1000U);
}

TEST(JsonCodec, SurvivesMutatedJson) {
  JsonCodec codec = codec_of("sensor", "Sensor");
  const std::string json =
      R"({"name": "n", "value": 1e3, "quality": "Bad", "at": {"x": 1, "y": 2}, "samples": [1, 2],)"
      R"( "parts": [{"label": "a", "raw": [1, 2, 3]}], "flags": "Wet Hot", "alarm": false})";
  EXPECT_EQ(refusal(codec, "Take", json), "");
  std::mt19937 random(6);  // NOLINT: the same mutants each time
  constexpr std::string_view pieces = "{}[]\",:0129-.eE \\nulltrue\n/*";
  std::size_t refused = 0;
  for (int round = 0; round < 5'000; ++round) {
    std::string mutant = json;
    for (int i = 0; i < 2; ++i) mutant[random() % mutant.size()] = pieces[random() % pieces.size()];
    if (!refusal(codec, "Take", mutant).empty()) ++refused;
  }
  EXPECT_GT(refused, 1000U);
}

TEST(JsonCodec, ReadsAndWritesStates) {
  JsonCodec codec = codec_of("sensor", "Log");
  ASSERT_GT(codec.state_bytes(), 0U);
  std::vector<std::byte> zeros(codec.state_bytes());
  const std::string json = codec.from_state(zeros).value();
  EXPECT_THAT(json, ::testing::StartsWith(R"({"taken": 0,"frame": {"id": 0,"corners": [{"x": )"));
  EXPECT_EQ(codec.to_state(json).value(), zeros);

  JsonCodec book = codec_of("trading");
  const auto state = book.to_state(R"({"orders": 3, "exposure": 1.5})").value();
  ASSERT_EQ(state.size(), book.state_bytes());
  EXPECT_EQ(std::to_integer<int>(state[0]), 3);
  EXPECT_EQ(book.from_state(state).value(), R"({"orders": 3,"exposure": 1.5})");
  EXPECT_THAT(book.to_state(R"({"orders": 3})").error().detail, HasSubstr("trading.BookState:2:"));
  EXPECT_EQ(book.to_state("null").error(), Errc::malformed_request);
  EXPECT_EQ(book.to_state(R"({"orders": 3, "exposure": 1}, "value": 1)").error(),
            Errc::malformed_request);
  EXPECT_EQ(book.from_state(Bytes(state).first(8)).error(), Errc::state_mismatch);
  JsonCodec stateless = codec_of("sensor", "Sensor");
  EXPECT_EQ(stateless.state_bytes(), 0U);
  EXPECT_EQ(stateless.from_state({}).error(), Errc::state_mismatch);
  EXPECT_EQ(stateless.to_state("{}").error(), Errc::state_mismatch);
}

TEST(JsonCodec, AsksForABehaviourWhereThereAreSeveral) {
  const std::string path = RK_TEST_SCHEMAS "/sensor.fbs";
  const ringkernel::Schema schema = schema_from_text(path, read_file(path)).value();
  EXPECT_EQ(JsonCodec::open(schema, {}).error().detail,
            "the schema has several behaviours: Log, Sensor");
  EXPECT_EQ(JsonCodec::open(schema, "Lug").error().detail,
            "no behaviour 'Lug'; the schema has Log, Sensor");
  EXPECT_EQ(JsonCodec::open({}, {}).error().detail, "there is no schema");
  EXPECT_EQ(JsonCodec::open(ringkernel::Schema::file("/nonexistent"), {}).error().detail,
            "'/nonexistent' cannot be read");
  EXPECT_EQ(JsonCodec::open(ringkernel::Schema::binary("x", "no schema"), {}).error(),
            Errc::invalid_argument);
}

}  // namespace
}  // namespace ringkernel::program::test
