// A whole runtime on Oclgrind, which has neither shared memory nor C11 atomics and runs a kernel
// inside the launch: strategy `sliced`, or nothing. What it reports fails the test. Its check for
// uninitialised reads is left to opencl12_test: it keeps its memory by thread and crashes when one
// thread writes to a buffer of another's.
#include <gmock/gmock.h>

#include <filesystem>

#include "support/skip.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Oclgrind, RunsARuntimeInSlices) {
  constexpr const char* library = "/usr/lib/oclgrind/liboclgrind-rt.so";
  if (!std::filesystem::exists(library))
    RK_SKIP_WITHOUT("oclgrind", library << " is not installed");
  const auto result =
      testing::run_child({RK_SLICED_CHILD}, {{"RINGKERNEL_OPENCL_LIBRARY", library},
                                             {"RINGKERNEL_TRANSFER", ""},
                                             {"OCLGRIND_BUILD_OPTIONS", "-cl-opt-disable"},
                                             {"OCLGRIND_CHECK_API", "1"},
                                             {"OCLGRIND_DATA_RACES", "1"}});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, StartsWith("sliced"));
  EXPECT_THAT(result.output,
              Not(AnyOf(HasSubstr("Invalid"), HasSubstr("data race"), HasSubstr("Oclgrind"))));
}

}  // namespace
}  // namespace ringkernel
