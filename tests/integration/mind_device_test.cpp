// A device that fails under a MIND runtime, and the way back, in a process of its own.
#include <gmock/gmock.h>

#include "ringkernel/mind_runtime.hpp"
#include "support/skip.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(MindDeviceOpencl, FailsIsPoisonedAndRecoversWithWhatIsIntact) {
  if (const auto runtime = MindRuntime::open(BackendTarget::automatic, {.backend = "opencl"});
      !runtime)
    RK_SKIP_WITHOUT("opencl", runtime.error().text());
  const auto child = testing::run_child({RK_MIND_CHILD}, {{"OPENCL_LAYERS", RK_FAULT_LAYER}});
  ASSERT_FALSE(child.timed_out) << child.output;
  ASSERT_EQ(child.exit_code, 0) << child.output;
  EXPECT_THAT(child.output, HasSubstr("before: ok\n"));
  EXPECT_THAT(child.output, ContainsRegex("broken: E6008 [^\n]*clEnqueueNDRangeKernel"));
  EXPECT_THAT(child.output, ContainsRegex("health: E6008 [^\n]*poisoned"));
  EXPECT_THAT(child.output, ContainsRegex("refused: E6008 [^\n]*poisoned"));
  EXPECT_THAT(child.output, ContainsRegex("not yet: E6008 "));
  EXPECT_THAT(child.output, ContainsRegex("still: E6008 [^\n]*poisoned"));
  EXPECT_THAT(child.output, HasSubstr("recovered: ok\nintact: 2 4 6 8\n"));
  EXPECT_THAT(child.output, HasSubstr("doubtful: tensor_not_found"));
  EXPECT_THAT(child.output, HasSubstr("again: ok\nresult: 4 8 12 16\nwritten: ok\n"));
}

}  // namespace
}  // namespace ringkernel::test
