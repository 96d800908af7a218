// A device whose calls fail: for a moment, which nobody notices, and for good, from which there is
// a way back.
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <tuple>

#include "unit/backend/child_process.hpp"

namespace ringkernel::test {
namespace {

using ::testing::AllOf;
using ::testing::Combine;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Values;

std::string output_of(const std::vector<std::string>& command, const std::string& transfer) {
  std::vector<std::string> line{RK_STUMBLING_SERVICE};
  line.insert(line.end(), command.begin(), command.end());
  const auto child = testing::run_child(
      line, {{"OPENCL_LAYERS", RK_FAULT_LAYER}, {"RINGKERNEL_TRANSFER", transfer}});
  EXPECT_FALSE(child.timed_out);
  EXPECT_EQ(child.exit_code, 0);
  return child.output;
}

class OpenClFaults : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

/// Who waits for a command, or asks, does so a few times only: when a program is built, and where
/// the driver does not tell.
TEST_P(OpenClFaults, ThatPassAreNotNoticed) {
  const auto [transfer, call] = GetParam();
  const bool is_rare = std::string_view(call) == "wait" || std::string_view(call) == "ask";
  const std::string output =
      output_of({"passing", std::string(call) + (is_rare ? ":/1" : ":/7")}, transfer);
  EXPECT_THAT(output, AllOf(HasSubstr("wrong: 0"), HasSubstr("deactivated: ok"),
                            HasSubstr("terminated: ok"), HasSubstr("faults: ")));
}

std::string label(const ::testing::TestParamInfo<OpenClFaults::ParamType>& info) {
  return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(SharedMemory, OpenClFaults,
                         Combine(Values("zero_copy"),
                                 Values("launch", "argument", "flush", "ask", "wait")),
                         label);
INSTANTIATE_TEST_SUITE_P(Copies, OpenClFaults,
                         Combine(Values("dma", "sliced"), Values("launch", "argument", "flush",
                                                                 "write", "read", "ask", "wait")),
                         label);

class OpenClFailure : public ::testing::TestWithParam<const char*> {};

TEST_P(OpenClFailure, IsToldByALaunchWhichNamesTheWayBack) {
  const std::string output = output_of({"lasting"}, GetParam());
  EXPECT_THAT(output, HasSubstr("called: E6008 device_error: the device failed: clEnqueue"));
  EXPECT_THAT(output,
              HasSubstr("launched: E6008 device_error: the device failed: program 'echo': "
                        "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5); restart the program"));
  EXPECT_THAT(output, Not(HasSubstr("launched: ok")));
  EXPECT_THAT(output, AllOf(HasSubstr("restarted: ok"), HasSubstr("called: ok")));
}

INSTANTIATE_TEST_SUITE_P(, OpenClFailure, Values("zero_copy", "dma", "sliced"),
                         [](const auto& failure) { return std::string(failure.param); });

}  // namespace
}  // namespace ringkernel::test
