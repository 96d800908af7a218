#include "ringkernel/error.hpp"

#include <gtest/gtest.h>

namespace ringkernel {
namespace {

/// A log, or a table, has a line for it; a compiler's own lines stay in the detail.
TEST(Error, TextIsOneLine) {
  const Error error(Errc::build_failed, "\n  first\r\n    second \n\n third\n");
  EXPECT_EQ(error.text(),
            make_error_code(Errc::build_failed).message() + ": first | second | third");
  EXPECT_EQ(error.detail.front(), '\n');
}

/// Of a file, say, that a stranger has sent.
TEST(Error, TextHasNothingThatATerminalObeys) {
  EXPECT_EQ(Error(Errc::busy, "node '\x1b[31m\x7f'\tis").text(),
            make_error_code(Errc::busy).message() + ": node '?[31m?'\tis");
}

TEST(Error, TextIsTheCodesOwnWithoutADetail) {
  EXPECT_EQ(Error(Errc::busy, "").text(), make_error_code(Errc::busy).message());
  EXPECT_EQ(Error(Errc::busy, "a  b").text(), make_error_code(Errc::busy).message() + ": a  b");
}

}  // namespace
}  // namespace ringkernel
