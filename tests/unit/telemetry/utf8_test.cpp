// What is a character, and what a terminal would obey.
#include "telemetry/utf8.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace ringkernel::telemetry {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, FindsTheFirstCharacter) {
  struct Case {
    std::string_view text;
    char32_t code_point;
    std::size_t bytes;
  };
  for (const auto& [text, code_point, bytes] : {
           Case{"a", U'a', 1},
           Case{"\0"sv, 0, 1},
           Case{"\x7f", 0x7f, 1},
           Case{"\xc2\x80", 0x80, 2},
           Case{"\xdf\xbf", 0x7ff, 2},
           Case{"\xe0\xa0\x80", 0x800, 3},
           Case{"\xed\x9f\xbf", 0xd7ff, 3},
           Case{"\xee\x80\x80", 0xe000, 3},
           Case{"\xef\xbf\xbf", 0xffff, 3},
           Case{"\xf0\x90\x80\x80", 0x10000, 4},
           Case{"\xf4\x8f\xbf\xbf", 0x10ffff, 4},
       }) {
    for (const std::string_view rest : {""sv, "\xff"sv, "more"sv}) {
      const std::string whole = std::string(text) + std::string(rest);
      EXPECT_EQ(first_character(whole).code_point, code_point) << whole;
      EXPECT_EQ(first_character(whole).bytes, bytes) << whole;
    }
    EXPECT_TRUE(is_utf8(text));
  }
}

TEST(Utf8, TakesNothingElseForOne) {
  for (const std::string_view text : {
           "\x80"sv,
           "\xbf"sv,
           "\xff"sv,
           "\xfe"sv,  // no beginnings
           "\xc2"sv,
           "\xe2\x82"sv,
           "\xf0\x9f\x98"sv,  // cut off
           "\xc2\x41"sv,
           "\xe2\x82\x41"sv,
           "\xf0\x9f\x98\xff"sv,  // not continued
           "\xc0\x80"sv,
           "\xc1\xbf"sv,
           "\xe0\x9f\xbf"sv,      // longer than they need be
           "\xf0\x8f\xbf\xbf"sv,  // likewise
           "\xed\xa0\x80"sv,
           "\xed\xbf\xbf"sv,  // surrogates
           "\xf4\x90\x80\x80"sv,
           "\xf5\x80\x80\x80"sv,      // above U+10FFFF
           "\xf8\x88\x80\x80\x80"sv,  // of five bytes
       }) {
    EXPECT_EQ(first_character(text).bytes, 0u) << ::testing::PrintToString(text);
    EXPECT_FALSE(is_utf8(text));
    EXPECT_FALSE(is_utf8("before" + std::string(text)));
  }
  EXPECT_TRUE(is_utf8(""));
}

TEST(Utf8, KnowsWhatIsObeyed) {
  for (const char32_t code_point : {0x00u, 0x0au, 0x1bu, 0x1fu, 0x7fu, 0x80u, 0x9bu, 0x9fu, 0x61cu,
                                    0x200eu, 0x2028u, 0x202eu, 0x2066u, 0x2069u})
    EXPECT_TRUE(is_command(code_point)) << static_cast<unsigned>(code_point);
  for (const char32_t code_point :
       {0x20u, 0x7eu, 0xa0u, 0xe4u, 0x2010u, 0x2030u, 0x6570u, 0x1f600u})
    EXPECT_FALSE(is_command(code_point)) << static_cast<unsigned>(code_point);
}

}  // namespace
}  // namespace ringkernel::telemetry
