// Compilers that do not look at #line.
#include "program/build_log.hpp"

#include <gtest/gtest.h>

namespace ringkernel::program {
namespace {

constexpr const char* text =
    "#line 1 \"trading.rk.h\"\n"  // 1
    "int order;\n"                // 2
    "#line 1 \"book.rk.cl\"\n"    // 3
    "\n"                          // 4
    "broken\n"                    // 5
    "#line 40\n"                  // 6
    "again\n";                    // 7

TEST(BuildLog, LinesOfTheTextAreThoseOfItsFiles) {
  EXPECT_EQ(with_lines_of(text,
                          "<kernel>:5:3: error: what is 'broken'?\n"
                          "<kernel>:2:1: note: not <kernel>:2\n<kernel>:7: again"),
            "book.rk.cl:2:3: error: what is 'broken'?\n"
            "trading.rk.h:1:1: note: not trading.rk.h:1\nbook.rk.cl:40: again");
}

TEST(BuildLog, WhatIsNoPlaceStays) {
  for (const char* const log :
       {"", "book.rk.cl:5: error", "<kernel>:", "<kernel>:x", "<kernel>:0:1", "<kernel>:99:1",
        "<kernel>:99999999999999999999999:1"})
    EXPECT_EQ(with_lines_of(text, log), log);
  EXPECT_EQ(with_lines_of("no directive\n", "<kernel>:1:1"), "<kernel>:1:1");
}

TEST(BuildLog, ALineThatIsComplainedOfIsShown) {
  const HandlerText files[] = {{"book.rk.cl", "#include\n\n\tint order = broken;\r\n}"},
                               {"k.rk.cl", "never"}};
  EXPECT_EQ(with_source_lines(files,
                              "error: book.rk.cl:3:2: what is this?\nbook.rk.cl:4: error: no end\n"
                              "warning: book.rk.cl:3:1: odd\nin all 2\n"),
            "error: book.rk.cl:3:2: what is this?\n    int order = broken;\n"
            "book.rk.cl:4: error: no end\n    }\n"
            "warning: book.rk.cl:3:1: odd\nin all 2");
  // GCC's way to a mistake is none.
  const char* const included = "In file included from book.rk.cl:3:\n         from book.rk.cl:4:";
  EXPECT_EQ(with_source_lines(files, included), included);
  // The end of the log is one of a line.
  EXPECT_EQ(with_source_lines(files, "book.rk.cl:3: no"),
            "book.rk.cl:3: no\n    int order = broken;");
  // What a compiler has shown itself comes once.
  const char* const shown = "book.rk.cl:3:2: no\n   3 |  int order = broken;\n     |      ^~~~~";
  EXPECT_EQ(with_source_lines(files, shown), shown);
}

TEST(BuildLog, WhatIsNoLineOfAFileIsNotShown) {
  const HandlerText files[] = {{"book.rk.cl", "one\n\n" + std::string(201, 'x')}};
  for (const char* const log :
       {"", "book.rk.cl:0: a", "book.rk.cl:2: a", "book.rk.cl:3: a", "book.rk.cl:4: a",
        "book.rk.cl: a", "mybook.rk.cl:1: a", "book.rk.cl:99999999999999999999999: a"})
    EXPECT_EQ(with_source_lines(files, log), log);
}

}  // namespace
}  // namespace ringkernel::program
