#include "schema/schema_text.hpp"

#include <gtest/gtest.h>

#include "unit/program/files.hpp"

namespace ringkernel::program::test {
namespace {

constexpr const char* service = "table T { a: int; }\nrpc_service S { M(T): T; }\n";

std::string answer_to(const std::string& text) {
  const auto schema = from_text({text, "shop.fbs", {}});
  return schema ? "" : schema.error().detail;
}

TEST(SchemaText, GivesWhatTheBinaryFormGives) {
  for (const std::string name : {"trading", "sensor"}) {
    const std::string path = RK_TEST_SCHEMAS "/" + name + ".fbs";
    const Schema schema = from_text({read_file(path), path, {}}).value();
    const Schema binary =
        Schema::from_binary(binary_of(name), {path, source_of(name).lines}).value();
    EXPECT_EQ(schema.device_header(), binary.device_header());
    EXPECT_EQ(schema.device_dispatch(), binary.device_dispatch());
  }
}

TEST(SchemaText, FindsIncludedFilesInItsFolders) {
  const std::string text =
      "include \"units.fbs\";\ntable T { m: units.Money; }\n"
      "rpc_service S { M(T): T; }";
  EXPECT_FALSE(from_text({text, "nowhere/shop.fbs", {RK_TEST_SCHEMAS}}).has_error());
  EXPECT_EQ(from_text({text, "nowhere/shop.fbs", {}}).error().detail,
            "nowhere/shop.fbs:1:20: unable to load include file: units.fbs");
}

TEST(SchemaText, TellsWhereItIsWrong) {
  EXPECT_EQ(answer_to("table T {\n  a: int\n}"), "shop.fbs:3:1: expecting: ; instead got: }");
  EXPECT_EQ(answer_to("table T {\n  a: B;\n}").substr(0, 50),
            "shop.fbs:3:1: type referenced but not defined (che");
  EXPECT_EQ(answer_to(std::string(3, '\0')), "shop.fbs: a zero byte in the text");
  EXPECT_EQ(answer_to(std::string(schema_bytes_max + 1, ' ')),
            "shop.fbs: 1048577 bytes of text, at most 1048576");
}

TEST(SchemaText, TakesWarningsForErrors) {
  EXPECT_EQ(answer_to("attribute \"x\";\n"
                      "table T { a: int (x: 1, x: 2); }\nrpc_service S { M(T): T; }"),
            "shop.fbs:2:26: attribute already found: x");
}

TEST(SchemaText, LeavesStyleToItsAuthor) {
  EXPECT_EQ(answer_to("table T { camelCase: int; }\nrpc_service S { M(T): T; }"), "");
}

TEST(SchemaText, PutsNoDocumentationIntoCode) {
  const std::string text = "/// ends with \\\n/// or with ?\?/\n/// */ and \"goes on\"\n";
  const Schema schema = from_text({text + service, "shop.fbs", {}}).value();
  const std::string& header = schema.device_header();
  EXPECT_NE(header.find("/// ends with\n/// or with ?\?/.\n/// */ and \"goes on\"\ntypedef"),
            std::string::npos);
}

TEST(SchemaText, QuotesTheNameOfItsFile) {
  const Schema schema = from_text({service, "a\"b\nc.fbs", {}}).value();
  EXPECT_EQ(schema.header_name(), "abc.rk.h");
  EXPECT_NE(schema.device_dispatch().find("#line 2 \"a\\\"bc.fbs\"\n"), std::string::npos);
}

}  // namespace
}  // namespace ringkernel::program::test
