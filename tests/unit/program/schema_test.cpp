#include "program/schema.hpp"

#include <gtest/gtest.h>

#include "unit/program/files.hpp"

namespace ringkernel::program::test {
namespace {

Schema schema_of(const std::string& name) {
  return Schema::from_binary(binary_of(name), source_of(name)).value();
}

TEST(ProgramSchema, TellsBehavioursMethodsAndStates) {
  const Schema schema = schema_of("trading");
  ASSERT_EQ(schema.behaviours().size(), 1u);
  const Behaviour& book = *schema.find_behaviour("Book");
  EXPECT_EQ(&book, schema.find_behaviour("trading.Book"));
  EXPECT_EQ(schema.find_behaviour("book"), nullptr);
  EXPECT_EQ(book.id, name_id("trading.Book"));
  ASSERT_TRUE(book.state);
  EXPECT_EQ(book.state->name, "trading.BookState");
  EXPECT_EQ(book.state->bytes, 16u);
  EXPECT_EQ(book.state->version, 1u);
  const Method& submit = *book.find_method("Submit");
  EXPECT_EQ(&submit, book.find_method("trading.Book.Submit"));
  EXPECT_EQ(book.find_method("Cancel"), nullptr);
  EXPECT_EQ(submit.id, name_id("trading.Book.Submit"));
  EXPECT_EQ(submit.request, "trading.Order");
  EXPECT_EQ(submit.reply, "trading.Ack");
  EXPECT_EQ(submit.reply_bytes, 80u);
}

TEST(ProgramSchema, KnowsABehaviourWithoutAState) {
  const Schema schema = schema_of("sensor");
  EXPECT_FALSE(schema.find_behaviour("Sensor")->state);
  EXPECT_EQ(schema.find_behaviour("Sensor")->methods.size(), 2u);
  EXPECT_EQ(schema.find_behaviour("Log")->state->version, 0u);
}

TEST(ProgramSchema, NumbersNamesByFnv1a) {
  EXPECT_EQ(name_id(""), 0x811c9dc5u);
  EXPECT_EQ(name_id("a"), 0xe40c292cu);
  EXPECT_EQ(name_id("foobar"), 0xbf9cf968u);
}

// A text that was meant to change is to be copied from the build: tests/unit/program/made.
TEST(ProgramSchema, MakesTheTextsThatWereRead) {
  const std::string golden = RK_TEST_SCHEMAS "/golden/";
  for (const std::string name : {"trading", "sensor"}) {
    const Schema schema = schema_of(name);
    EXPECT_EQ(schema.header_name(), name + ".rk.h");
    EXPECT_EQ(schema.device_header(), read_file(golden + name + ".rk.h.txt"));
    EXPECT_EQ(schema.device_dispatch(), read_file(golden + name + ".rk.h.dispatch.txt"));
  }
}

TEST(ProgramSchema, FindsTheLinesOfTypesFieldsAndMethods) {
  const Lines lines = find_lines(
      "namespace a.b; // table No {}\n"
      "/* struct No {\n} */ attribute \"table\";\n"
      "table T (x: \"}\") {\n"
      "  one: int = 5; two: [T]\n"
      "    (max: 4, id: 1);\n"
      "}\n"
      "enum E : byte { A = 1,\n B }\n"
      "union U { T,\n V }\n"
      "rpc_service S {\n"
      "  M(T): T (emits: \"p:T\");\n"
      "}");
  const Lines expected{{"a.b.T", 4},    {"a.b.T.one", 5}, {"a.b.T.two", 5}, {"a.b.E", 8},
                       {"a.b.E.A", 8},  {"a.b.E.B", 9},   {"a.b.U", 10},    {"a.b.U.T", 10},
                       {"a.b.U.V", 11}, {"a.b.S", 12},    {"a.b.S.M", 13}};
  EXPECT_EQ(lines, expected);
}

TEST(ProgramSchema, ScansAnyText) {
  for (const char* text :
       {"", "table", "table T", "table T {", "/*", "\"", "namespace", "enum E {("})
    (void)find_lines(text);
}

TEST(ProgramSchema, FindsWhatIsWrongWithTheHandlers) {
  const Schema schema = schema_of("sensor");
  const std::string source =
      "// RK_ON(Log, No)\n"
      "RK_ON(Sensor, Take) { return RK_OK; }\n"
      "RK_ON(Sensor, Take) {}\n"
      "RK_ON(Log,\n      Tke) {}\n"
      "RK_ON(Sensr, Ping) { char c = '\"'; }  /* \" */ // '\n"
      "char d = '\\''; const char* e = \"\\\"RK_ON(No, No)\";\n"
      "RK_ON(";
  const std::vector<std::string> expected{
      "a.rk.cl:3: a second RK_ON(Sensor, Take)",
      "a.rk.cl:5: Log has no method Tke; it has Take",
      "a.rk.cl:6: there is no behaviour Sensr; there is Log, Sensor",
      "sensor.fbs:87: no RK_ON(Log, Take) in a.rk.cl",
      "sensor.fbs:83: no RK_ON(Sensor, Ping) in a.rk.cl",
  };
  const auto mistakes = [&](std::vector<HandlerText> files) {
    return find_handler_mistakes(schema, source_of("sensor"), files);
  };
  EXPECT_EQ(mistakes({{"a.rk.cl", source}}), expected);
  EXPECT_TRUE(mistakes({{"probe.rk.cl", read_file(RK_TEST_SCHEMAS "/probe.rk.cl")}}).empty());
  // Handlers may be in a header.
  EXPECT_EQ(mistakes({{"a.rk.cl", "RK_ON(Sensor, Take) {}"},
                      {"b.h", "RK_ON(Log, Take) {}\nRK_ON(Log, No) {}"}}),
            (std::vector<std::string>{"b.h:2: Log has no method No; it has Take",
                                      "sensor.fbs:83: no RK_ON(Sensor, Ping) in a.rk.cl"}));
}

std::vector<std::string> told(const std::vector<ReplyMistake>& mistakes) {
  std::vector<std::string> lines;
  for (const auto& [file, line, remedy] : mistakes)
    lines.push_back(file + ":" + std::to_string(line) + ": " + remedy);
  return lines;
}

TEST(Handlers, AFieldThatIsNoMemberOfTheReplyIsToldWithItsWriter) {
  const Schema schema = Schema::from_binary(binary_of("sensor"), source_of("sensor")).value();
  const HandlerText files[] = {{"a.rk.cl",
                                "RK_ON(Sensor, Take) {\n"
                                "  reply->ok = 1; // reply->text\n"
                                "  reply->mean = reply->\n"
                                "      last;\n"
                                "}\n"
                                "RK_ON(Sensor, Ping) { reply->ok = 1; }\n"},
                               {"b.h",
                                "RK_ON(Sensor, Take) {}\n"
                                "void f(RK_GLOBAL ReportOut* reply) { reply->ok = 1; }\n"
                                "RK_ON(Log, Take) { reply->text = reply->notes; reply"}};
  EXPECT_EQ(told(find_reply_mistakes(schema, files)),
            (std::vector<std::string>{
                "a.rk.cl:2: the reply has no member ok: use Report_set_ok",
                "a.rk.cl:4: the reply has no member last: use Report_put_last",
                "b.h:3: the reply has no member text: use Report_put_text",
            }));
}

TEST(Handlers, AreHiddenByThePreprocessorAlone) {
  EXPECT_FALSE(may_hide_handlers(""));
  EXPECT_FALSE(may_hide_handlers("#include \"a.rk.h\"\n#define LIMIT 7\nRK_ON(A, B) { if (0); }"));
  EXPECT_TRUE(may_hide_handlers("x\n  # ifdef RK_GPU\n"));
  EXPECT_TRUE(may_hide_handlers("#define ON(M) RK_ON(Book, M)"));
  EXPECT_TRUE(may_hide_handlers("#define ON(M) \\\n  RK_ON(Book, M)"));
}

}  // namespace
}  // namespace ringkernel::program::test
