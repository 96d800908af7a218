#include "support/skip.hpp"

#include <gtest/gtest-spi.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "support/environment.hpp"

namespace ringkernel::test {
namespace {

void need(const char* part) {
  RK_SKIP_WITHOUT(part, "nobody "
                            << "has it");
}

/// What `need` reports: its only result.
::testing::TestPartResult result_of(const char* part) {
  ::testing::TestPartResultArray results;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    need(part);
  }
  EXPECT_EQ(results.size(), 1);
  return results.GetTestPartResult(0);
}

TEST(Skip, IsOneForWhoRequiresNothing) {
  const testing::Variable required("RINGKERNEL_REQUIRE", "opencl");
  const auto result = result_of("chromium");
  EXPECT_TRUE(result.skipped());
  EXPECT_STREQ(result.message(), "without chromium: nobody has it");
}

TEST(Skip, IsAFailureWhereThePartIsRequired) {
  const testing::Variable required("RINGKERNEL_REQUIRE", "opencl,chromium");
  const auto result = result_of("chromium");
  EXPECT_TRUE(result.fatally_failed());
  EXPECT_NE(std::string_view(result.message()).find("chromium is required"), std::string::npos);
  EXPECT_FALSE(is_required("chrom")) << "whole words";
}

/// With which code a script ends that lacks the part.
int exit_code_without(const std::string& part) {
  const std::string script = "part=" + part + "; . " RK_TESTS "/support/skip.sh; skip 'none' 2>&1";
  const int status = std::system(("sh -c \"" + script + "\" >/dev/null").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Skip, OfAScriptIsTheSame) {
  const testing::Variable required("RINGKERNEL_REQUIRE", "opencl,conan,clang");
  EXPECT_EQ(exit_code_without("conan"), 1);
  EXPECT_EQ(exit_code_without("cona"), 77);
  EXPECT_EQ(exit_code_without("debian"), 77);
}

}  // namespace
}  // namespace ringkernel::test
