// More programs than compute units: they share by leaving. On PoCL, whose worker threads a variable
// limits; it reads that once, so each case is a process.
#include <gmock/gmock.h>

#include <string>

#include "support/skip.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* calls = "100";

testing::ChildResult run(const char* transfer, const char* workers) {
  return testing::run_child({RK_RESIDENCY_CHILD, transfer, calls},
                            {{"POCL_MAX_PTHREAD_COUNT", workers}, {"RINGKERNEL_TRANSFER", ""}});
}

/// Runs the case, or skips it where the machine's driver is not PoCL or lacks the strategy.
void expect_served(const char* transfer, const char* workers) {
  const auto result = run(transfer, workers);
  if (result.exit_code != 0 && result.output.find("E6002") != std::string::npos)
    RK_SKIP_WITHOUT("pocl", result.output);
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST(Residency, FourProgramsShareTwoWorkersWithOneMemory) { expect_served("zero_copy", "2"); }
TEST(Residency, FourProgramsShareTwoWorkersByDma) { expect_served("dma", "2"); }
TEST(Residency, FourProgramsShareTwoWorkersSliced) { expect_served("sliced", "2"); }

/// Nothing is resident there: a slice would keep the only worker.
TEST(Residency, OneWorkerRunsSlices) {
  const auto result = run("automatic", "1");
  if (result.output.find("E6002") != std::string::npos) RK_SKIP_WITHOUT("pocl", result.output);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, StartsWith("sliced"));
}

TEST(Residency, OneWorkerIsNoPlaceForAResidentKernel) {
  const auto result = run("zero_copy", "1");
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("one compute unit"));
}

}  // namespace
}  // namespace ringkernel
