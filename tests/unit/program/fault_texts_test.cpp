// RK_FAULT_TEXT: what a source says of its faults, and what it may not say.
#include "program/fault_texts.hpp"

#include <gtest/gtest.h>

namespace ringkernel::program {
namespace {

Result<FaultTexts> texts_of(const std::string& source, const std::string& header = "") {
  const HandlerText files[] = {{"book.rk.cl", source}, {"book.h", header}};
  return find_fault_texts(files);
}

TEST(FaultTexts, AreThoseOfAllFilesByTheirCodes) {
  const auto texts = texts_of(
      "// RK_FAULT_TEXT(9, \"in a comment\")\n"
      "const char* said = \"RK_FAULT_TEXT(8, \\\"in a text\\\")\";\n"
      "RK_FAULT_TEXT(1, \"no lines\")\n"
      "RK_FAULT_TEXT( 0x20u , \"a \\\"quoted\\\" ) // of\"\n"
      "              /* two */ \" parts\\n\");\n",
      "#define RK_FAULT_TEXT_OF_OURS 3\nRK_FAULT_TEXT(65535,\"last\")");
  ASSERT_TRUE(texts) << texts.error().text();
  EXPECT_EQ(*texts,
            (FaultTexts{{1, "no lines"}, {32, "a \"quoted\" ) // of parts\n"}, {65535, "last"}}));
  EXPECT_TRUE(
      texts_of("#ifndef RK_FAULT_TEXT\n#define RK_FAULT_TEXT(CODE, TEXT)\n#endif\n")->empty());
  EXPECT_TRUE(texts_of("#if defined(RK_FAULT_TEXT) || !defined RK_FAULT_TEXT\n#endif\n")->empty());
  EXPECT_FALSE(texts_of("RK_FAULT_TEXT(1, \"no\tlines\")\n")) << "a control character as it is";
}

TEST(FaultTexts, WhatIsNoLiteralIsRefusedWithItsLine) {
  const std::string number =
      "book.rk.cl:2: RK_FAULT_TEXT(code, \"text\") takes a number from 1 to 65535, and then a text";
  const std::string literal =
      "book.rk.cl:2: the text of fault 1 is to be a string literal, with no escapes but \\n, \\t, "
      "\\\" and \\\\";
  const struct {
    const char* line;
    std::string why;
  } refused[] = {
      {"RK_FAULT_TEXT(0, \"a\")", number},
      {"RK_FAULT_TEXT(65536, \"a\")", number},
      {"RK_FAULT_TEXT(no_lines, \"a\")", number},
      {"RK_FAULT_TEXT(1 + 1, \"a\")", number},
      {"RK_FAULT_TEXT(010, \"a\")", number},
      {"RK_FAULT_TEXT(1)", number},
      {"RK_FAULT_TEXT", number},
      {"RK_FAULT_TEXT(1, text)", literal},
      {"RK_FAULT_TEXT(1, \"a\" text)", literal},
      {"RK_FAULT_TEXT(1, u8\"a\")", literal},
      {"RK_FAULT_TEXT(1, \"\\x41\")", literal},
      {"RK_FAULT_TEXT(1, \"no end)", literal},
      {"RK_FAULT_TEXT(1, \"no end\\", literal},
      {"RK_FAULT_TEXT(1, \"\")", "book.rk.cl:2: the text of fault 1 has 0 bytes, and not 1 to 256"},
  };
  for (const auto& [line, why] : refused) {
    const auto texts = texts_of(std::string("\n") + line);
    ASSERT_FALSE(texts) << line;
    EXPECT_EQ(texts.error(), Errc::build_failed);
    EXPECT_EQ(texts.error().detail, why) << line;
  }
  EXPECT_TRUE(texts_of("RK_FAULT_TEXT(1, \"" + std::string(256, 'x') + "\")"));
  EXPECT_FALSE(texts_of("RK_FAULT_TEXT(1, \"" + std::string(257, 'x') + "\")"));
}

TEST(FaultTexts, OneFaultHasOneText) {
  const auto texts = texts_of("RK_FAULT_TEXT(7, \"one\")", "\nRK_FAULT_TEXT(0x7, \"one\")");
  ASSERT_FALSE(texts);
  EXPECT_EQ(texts.error().detail, "book.h:2: a second RK_FAULT_TEXT for fault 7");
}

}  // namespace
}  // namespace ringkernel::program
