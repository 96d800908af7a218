// What a schema can say and a program cannot have.
#include <gtest/gtest.h>

#include "schema/schema_text.hpp"

namespace ringkernel::program::test {
namespace {

constexpr const char* attributes =
    "namespace shop; attribute \"emits\"; attribute \"state_of\"; attribute \"version\"; "
    "attribute \"max\"; attribute \"maks\";\n";

/// The refusal of a schema that begins with those lines, or "" where there is none.
std::string refusal_of(const std::string& text) {
  const auto schema = from_text({attributes + text, "shop.fbs", {}});
  return schema ? "" : schema.error().detail;
}

/// The same of one with a service `S` whose method takes `Q` and gives `R`.
std::string refusal_beside_service(const std::string& text) {
  return refusal_of(text + "\ntable Q {}\ntable R {}\nrpc_service S { M(Q): R; }\n");
}

struct Case {
  const char* text;
  const char* refusal;
};

TEST(SchemaRefusals, CoverServicesAndMethods) {
  const Case cases[] = {
      {"table T {}", "shop.fbs: has no rpc_service, so the program has no behaviour"},
      {"table T {}\nrpc_service A { M(T): T; }\nnamespace b; rpc_service B { M(shop.T): shop.T; }",
       "shop.fbs:3: shop.A: another namespace than that of b.B"},
      {"table T {}\nrpc_service A {\n M(T): T (emits: \"fills:T\"); }",
       "shop.fbs:4: shop.A.M: links between actors (emits) are not there yet"},
      {"table T {}\nrpc_service A {\n M(T): T (max: 3); }",
       "shop.fbs:4: shop.A.M: the attribute 'max' means nothing here"},
      {"table T {}\nrpc_service A (version: 3) {\n M(T): T; }",
       "shop.fbs:3: shop.A: the attribute 'version' means nothing here"},
      {"table A { M: int; }\nrpc_service A {\n M(A): A; }",
       "shop.fbs:2: shop.A.M: its name on the device, 'A_M', is that of shop.A.M"},
  };
  for (const Case& one : cases) EXPECT_EQ(refusal_of(one.text), one.refusal);
}

TEST(SchemaRefusals, CoverNumbersThatMeet) {
  // Two names of one FNV-1a, which a namespace would pull apart.
  const std::string text =
      "table T {} rpc_service costarring { M(T): T; } "
      "rpc_service liquid { M(T): T; }";
  EXPECT_EQ(from_text({text, "x.fbs", {}}).error().detail,
            "x.fbs:1: liquid: its number is that of costarring: rename it");
}

/// FlatBuffers' reflection keeps where a field begins in 16 bits.
TEST(SchemaRefusals, CoverFieldsThatBeginTooFarBehind) {
  EXPECT_EQ(refusal_beside_service("struct Far {\n a: [uint:20000];\n b: uint; }"),
            "shop.fbs:4: shop.Far.b: begins behind the first 65535 bytes of its struct, which a "
            "schema cannot say: put the largest array last");
  EXPECT_EQ(refusal_beside_service("struct Near {\n b: uint;\n a: [uint:20000]; }"), "");
}

TEST(SchemaRefusals, CoverNumbersOfThings) {
  std::string methods;
  for (int i = 0; i < 65; ++i) methods += "M" + std::to_string(i) + "(T): T;";
  EXPECT_EQ(refusal_of("table T {}\nrpc_service A {" + methods + "}"),
            "shop.fbs:3: shop.A: 65 methods, at most 64");
  std::string services;
  for (int i = 0; i < 33; ++i) services += "rpc_service S" + std::to_string(i) + " { M(T): T; }";
  EXPECT_EQ(refusal_of("table T {}\n" + services), "shop.fbs: 33 services, at most 32");
}

TEST(SchemaRefusals, CoverStates) {
  const Case cases[] = {
      {"table B (state_of: \"S\") {}",
       "shop.fbs:2: shop.B: a state is a struct, because its layout is fixed"},
      {"struct B (state_of: \"T\") { a: int; }",
       "shop.fbs:2: shop.B: state_of 'T', which is no rpc_service here"},
      {"struct B (state_of: \"S\") { a: int; }\nstruct C (state_of: \"shop.S\") { a: int; }",
       "shop.fbs:3: shop.C: shop.S has a state already, shop.B"},
      {"struct B (state_of: \"S\", version: \"one\") { a: int; }",
       "shop.fbs:2: shop.B: the version 'one' is no number"},
      {"struct B (version: 1) { a: int; }", "shop.fbs:2: shop.B: 'version' without state_of"},
      {"struct B (state_of: \"S\", maks: 1) { a: int; }",
       "shop.fbs:2: shop.B: the attribute 'maks' means nothing here"},
  };
  for (const Case& one : cases) EXPECT_EQ(refusal_beside_service(one.text), one.refusal);
}

/// Of a request with these fields; `more` stands before it.
std::string refused_request(const std::string& fields, const std::string& more = "") {
  return refusal_of(more + "table Q {" + fields + "}\ntable R {}\nrpc_service S { M(Q): R; }");
}

TEST(SchemaRefusals, CoverRequests) {
  EXPECT_EQ(refused_request("l: Line;",
                            "table A {} table B {} union U { A, B }\n"
                            "table Line {\n what: U; }"),
            "shop.fbs:4: shop.Line.what: a union cannot be read on a device: make one method for "
            "each type, or one optional table for each");
  EXPECT_EQ(refused_request("\n b: [ubyte] (nested_flatbuffer: \"Q\");"),
            "shop.fbs:3: shop.Q.b: a nested_flatbuffer cannot be read on a device");
  EXPECT_EQ(refused_request("\n b: [ubyte] (flexbuffer);"),
            "shop.fbs:3: shop.Q.b: a flexbuffer cannot be read on a device");
  EXPECT_EQ(refused_request("\n b: string = \"x\";"),
            "shop.fbs:3: shop.Q.b: a default of a string or a vector");
  EXPECT_EQ(refused_request("\n b: [int] (maks: 4);"),
            "shop.fbs:3: shop.Q.b: the attribute 'maks' means nothing here");
  EXPECT_EQ(refused_request("\n b: int (max: 4);"),
            "shop.fbs:3: shop.Q.b: (max: n) is for vectors and strings");
}

TEST(SchemaRefusals, LeaveOutWhatNoRequestReaches) {
  EXPECT_EQ(refused_request("a: int;", "table A {} union U { A } table Free { what: U; }"), "");
  EXPECT_EQ(refused_request("a: A;", "table A { again: A; }"), "");
}

/// Of a reply with these fields.
std::string refused_reply(const std::string& fields) {
  return refusal_of("table T {} union U { T }\ntable R {\n" + fields +
                    "}\ntable Q {}\nrpc_service S { M(Q): R; }");
}

TEST(SchemaRefusals, CoverReplies) {
  const Case cases[] = {
      {"a: string (required);", "is required, and a reply has room for it only with (max: n)"},
      {"a: [int] (required);", "is required, and a reply has room for it only with (max: n)"},
      {"a: T (required);",
       "is required, and the device writes no tables, or vectors of tables or strings, in a reply"},
      {"a: [T] (required);",
       "is required, and the device writes no tables, or vectors of tables or strings, in a reply"},
      {"a: [string] (required, max: 3);",
       "is required, and the device writes no tables, or vectors of tables or strings, in a reply"},
      {"a: U;", "a union cannot be written on a device"},
      {"a: [int] (max: 0);", "(max: n) wants a number of elements, and not '0'"},
      {"a: [int] (max: \"x\");", "(max: n) wants a number of elements, and not 'x'"},
      {"a: [double] (max: 131072);", "makes a reply of more than 1048576 bytes"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(refused_reply(one.text), std::string("shop.fbs:4: shop.R.a: ") + one.refusal);
}

TEST(Handlers, AListOfAReplyWithoutAMaximumIsToldWithTheRemedy) {
  const auto schema = from_text(
      {std::string(attributes) +
           "table Q {}\n"
           "table R { names: [ulong]; text: string; note: string (max: 8); parts: [Q]; }\n"
           "rpc_service S { M(Q): R; }\n",
       "shop.fbs",
       {}});
  ASSERT_TRUE(schema) << schema.error().text();
  const HandlerText files[] = {{"a.rk.cl",
                                "RK_ON(S, M) {\n"
                                "  RK_LET names = R_put_names(reply, 3);\n"
                                "  reply->text = 0;\n"
                                "  RK_LET note = R_put_note(reply, 3);\n"
                                "  reply->parts = 0;\n"
                                "}\n"
                                "void f() { R_put_names(0, 3); }\n"}};
  const auto mistakes = find_reply_mistakes(*schema, files);
  ASSERT_EQ(mistakes.size(), 2u);
  EXPECT_EQ(mistakes[0].line, 2u);
  EXPECT_EQ(mistakes[0].remedy,
            "a reply has room for names only with (max: n) in the schema; then use R_put_names");
  EXPECT_EQ(mistakes[1].line, 3u);
  EXPECT_EQ(mistakes[1].remedy,
            "a reply has room for text only with (max: n) in the schema; then use R_put_text");
}

TEST(SchemaRefusals, CoverNames) {
  EXPECT_EQ(refused_request("h: half;", "struct half { a: int; }\n"),
            "shop.fbs:2: shop.half: its name on the device, 'half', is a reserved one");
  EXPECT_EQ(refused_request("h: sin;", "struct sin { a: int; }\n"),
            "shop.fbs:2: shop.sin: its name on the device, 'sin', is a reserved one");
  EXPECT_EQ(refused_request("\n limit: int = null;\n has_limit: bool;"),
            "shop.fbs:4: shop.Q.has_limit: its name on the device, 'Q_has_limit', is that of "
            "shop.Q.limit");
  EXPECT_EQ(refused_request("b: B;", "struct B {\n private: int;\n private_: int; }\n"),
            "shop.fbs:4: shop.B.private_: its name on the device, 'private_', is that of "
            "shop.B.private");
  EXPECT_EQ(refused_request("b: B;", "struct B {\n rk_a: int; }\n"),
            "shop.fbs:3: shop.B.rk_a: 'rk_a' is a reserved name on the device");
  EXPECT_EQ(refused_request("b: B;", "struct B {\n a__b: int; }\n"),
            "shop.fbs:3: shop.B.a__b: 'a__b' is a reserved name on the device");
  EXPECT_EQ(refused_reply("rk_root: int;"),
            "shop.fbs:4: shop.R.rk_root: 'rk_root' is a reserved name on the device");
  EXPECT_EQ(refused_request("half: int; private: int; float4: int; open: int; view: int;"), "");
}

TEST(SchemaRefusals, CoverNamesOfTwoNamespaces) {
  const std::string text =
      "namespace a; table b_T {}\nnamespace a.b; table T {}\n"
      "namespace shop; rpc_service S { M(a.b_T): a.b_T; N(a.b.T): a.b.T; }";
  EXPECT_EQ(refusal_of(text),
            "shop.fbs:2: a.b_T: its name on the device, 'a_b_TView', is that of a.b.T");
}

}  // namespace
}  // namespace ringkernel::program::test
