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

}  // namespace
}  // namespace ringkernel::program
