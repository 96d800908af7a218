// A handler that never returns, in a process of its own (endless_child.cpp).
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/backends.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(EndlessHandler);

ringkernel::testing::ChildResult endless_child(const char* backend, const char* work_groups) {
  return ringkernel::testing::run_child({RK_ENDLESS_CHILD, backend, work_groups}, {});
}

/// Everybody with a deadline ends by it, and other programs go on.
void expect_ends(const ringkernel::testing::ChildResult& child) {
  EXPECT_EQ(child.exit_code, 0) << child.output;
  for (const char* const line :
       {"add: ok\n", "before: ok\n", "its call: deadline_exceeded", "beside: deadline_exceeded",
        "other: ok\n", "deactivate: E6007", "terminate: E6007", "restart: E6007",
        "other, again: ok\n", "other, terminated: ok\n", "shutdown: E6007", "over\n"})
    EXPECT_THAT(child.output, HasSubstr(line));
}

TEST_P(EndlessHandler, IsOutlivedByAllWhoHaveADeadline) {
  const bool is_on_callers = std::string(GetParam()) == "native";
  expect_ends(endless_child(GetParam(), is_on_callers ? "2" : "1"));
}

/// Natively, where no other work-group shares the work, a call is in the handler itself.
TEST(EndlessHandlers, NativelyKeepTheThreadThatCalls) {
  const auto child = ringkernel::testing::run_child({RK_ENDLESS_CHILD, "native", "1"},
                                                    {{"RINGKERNEL_TRANSFER", ""}});
  EXPECT_EQ(child.exit_code, 0) << child.output;
  for (const char* const line :
       {"its call: has not returned\n", "beside: deadline_exceeded", "other: ok\n",
        "deactivate: E6007", "other, again: ok\n", "other, terminated: ok\n", "over\n"})
    EXPECT_THAT(child.output, HasSubstr(line));
}

}  // namespace
}  // namespace ringkernel::test
