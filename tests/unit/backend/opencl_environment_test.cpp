// What a program sees whose OpenCL environment is broken in one way or another. The library is
// loaded once per process, so each case is a process of its own (child.cpp).
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/registry.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::backend {
namespace {

namespace fs = std::filesystem;
using ringkernel::testing::ChildResult;
using ringkernel::testing::run_child;
using ringkernel::testing::TempFolder;
using ::testing::HasSubstr;
using ::testing::Not;

using Environment = std::vector<std::pair<std::string, std::string>>;

ChildResult child(std::vector<std::string> arguments, const Environment& environment = {}) {
  arguments.insert(arguments.begin(), RK_BACKEND_CHILD);
  return run_child(arguments, environment);
}

/// A private folder of drivers' `.icd` files, removed with the object.
class VendorFolder {
 public:
  void add(const std::string& name, const std::string& library) const {
    std::ofstream(folder_.path() / name) << library << "\n";
  }
  void add_file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
  }
  [[nodiscard]] std::string path() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

class OpenClEnvironment : public ::testing::Test {
 protected:
  void SetUp() override {
    const Backend opencl = *find_backend("opencl");
    const auto count = opencl.device_count();
    for (uint32_t number = 0; count.has_value() && number < *count; ++number) {
      const auto device = opencl.describe(number);
      if (std::string(device->platform) == "Portable Computing Language")
        device_name_ = device->name;
    }
    if (device_name_.empty()) GTEST_SKIP() << "PoCL is not installed";
  }

  /// The vendor folder of the system with its drivers beside the broken ones.
  static void add_system_drivers(const VendorFolder& folder) {
    for (const auto& entry : fs::directory_iterator("/etc/OpenCL/vendors"))
      fs::copy(entry.path(), fs::path(folder.path()) / entry.path().filename());
  }

  std::string device_name_;
};

TEST_F(OpenClEnvironment, FallsBackToTheSystemsLibraryAndReportsTheOneThatWasAskedFor) {
  const ChildResult result =
      child({"discover"}, {{"RINGKERNEL_OPENCL_LIBRARY", "/nowhere/libOpenCL.so"}});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("device " + device_name_));
  EXPECT_THAT(result.output, HasSubstr("report library /nowhere/libOpenCL.so - "));
}

/// Files that are no libraries stand where the system's loader would be found.
TEST_F(OpenClEnvironment, ListsEveryPathTriedWhenThereIsNoLibrary) {
  const VendorFolder folder;
  folder.add_file("libOpenCL.so.1", "no library");
  folder.add_file("libOpenCL.so", "no library");
  const Environment environment = {{"RINGKERNEL_OPENCL_LIBRARY", "/nowhere/libOpenCL.so"},
                                   {"LD_LIBRARY_PATH", folder.path()}};
  const ChildResult discovered = child({"discover"}, environment);
  EXPECT_EQ(discovered.exit_code, 0) << discovered.output;
  EXPECT_THAT(discovered.output, HasSubstr("score 0"));
  const ChildResult opened = child({"open"}, environment);
  EXPECT_EQ(opened.exit_code, 1) << opened.output;
  EXPECT_THAT(opened.output, HasSubstr("library_not_found"));
  for (const std::string path : {"/nowhere/libOpenCL.so", "libOpenCL.so.1", "libOpenCL.so"}) {
    EXPECT_THAT(discovered.output, HasSubstr("report library " + path + " - "));
    EXPECT_THAT(opened.output, HasSubstr(path + " - "));
  }
}

TEST_F(OpenClEnvironment, NamesTheSymbolThatALibraryLacks) {
  const ChildResult result = child({"discover"}, {{"RINGKERNEL_OPENCL_LIBRARY", "libm.so.6"}});
  EXPECT_THAT(result.output,
              HasSubstr("report library libm.so.6 - has no symbol clGetPlatformIDs"));
  EXPECT_THAT(result.output, HasSubstr("device " + device_name_));
}

TEST_F(OpenClEnvironment, OpenSaysThatNoDriverIsInstalled) {
  const VendorFolder folder;
  const ChildResult result = child({"open"}, {{"OCL_ICD_VENDORS", folder.path()}});
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("E6002"));
  EXPECT_THAT(result.output, HasSubstr("no OpenCL driver is installed"));
}

/// Unsorted, the order of platforms is that of the folder: of several failing ones some come before
/// the good one.
TEST_F(OpenClEnvironment, ReportsAFailingPlatformAndKeepsTheOthers) {
  const VendorFolder folder;
  add_system_drivers(folder);
  for (int i = 0; i < 8; ++i) folder.add("broken-" + std::to_string(i) + ".icd", RK_BROKEN_DRIVER);
  const ChildResult result =
      child({"discover"}, {{"OCL_ICD_VENDORS", folder.path()}, {"OCL_ICD_PLATFORM_SORT", "none"}});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("device " + device_name_));
  EXPECT_THAT(result.output, HasSubstr("report platform Broken Driver: clGetDeviceIDs: "
                                       "CL_OUT_OF_RESOURCES (-5)"));
}

TEST_F(OpenClEnvironment, ReportsADriverThatDoesNotLoadAndKeepsTheOthers) {
  const VendorFolder folder;
  add_system_drivers(folder);
  folder.add("a-missing.icd", "libno-such-driver.so");
  const ChildResult result = child({"discover"}, {{"OCL_ICD_VENDORS", folder.path()}});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("device " + device_name_));
  EXPECT_THAT(result.output, HasSubstr("a-missing.icd: libno-such-driver.so - "));
}

/// PoCL adds the flags of this variable to every build.
TEST_F(OpenClEnvironment, RefusesToOpenADeviceWithAnotherLayoutAndNamesTheField) {
  const ChildResult result =
      child({"open"}, {{"POCL_EXTRA_BUILD_FLAGS", "-DRK_LAYOUT_PROBE_SKEW=4"}});
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("protocol_mismatch"));
  EXPECT_THAT(result.output, HasSubstr("rk_executor_host_line.magic: host 0, device 4"));
}

TEST_F(OpenClEnvironment, ShowsTheCompilersLogWhenABuildFails) {
  const ChildResult result =
      child({"open"}, {{"POCL_EXTRA_BUILD_FLAGS", "-DRK_LAYOUT_PROBE_SKEW=undeclared_word"}});
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("build_failed"));
  EXPECT_THAT(result.output, HasSubstr("CL_BUILD_PROGRAM_FAILURE (-11)"));
  EXPECT_THAT(result.output, HasSubstr("undeclared_word"));
}

TEST_F(OpenClEnvironment, ReservesWorkersForResidentSlicesUnlessTheUserChose) {
  const unsigned workers = std::max(4u, std::thread::hardware_concurrency()) + 2;
  EXPECT_THAT(
      child({"discover"}, {{"POCL_MAX_PTHREAD_COUNT", ""}, {"POCL_CPU_MAX_CU_COUNT", ""}}).output,
      HasSubstr(", " + std::to_string(workers) + " units"));
  EXPECT_THAT(
      child({"discover"}, {{"POCL_MAX_PTHREAD_COUNT", "3"}, {"POCL_CPU_MAX_CU_COUNT", "3"}}).output,
      HasSubstr(", 3 units"));
}

TEST_F(OpenClEnvironment, ExitingWithARunningSliceDoesNotHang) {
  for (const char* way : {"exit", "_exit"}) {
    const ChildResult result = child({way});
    EXPECT_FALSE(result.timed_out) << way;
    EXPECT_EQ(result.exit_code, 0) << way << ": " << result.output;
    EXPECT_THAT(result.output, HasSubstr("leaving")) << way;
  }
}

struct Fault {
  const char* plan;      ///< RK_FAULT, see fault_layer.cpp
  const char* expected;  ///< in the output
};

class OpenClFault : public OpenClEnvironment, public ::testing::WithParamInterface<Fault> {};

/// Launches 1 to 3 are the layout probe, the self-test and the warm-up; the others are slices.
TEST_P(OpenClFault, BecomesAnErrorThatNamesTheCall) {
  const ChildResult result =
      child({"slices", "3"}, {{"OPENCL_LAYERS", RK_FAULT_LAYER}, {"RK_FAULT", GetParam().plan}});
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    , OpenClFault,
    ::testing::Values(
        Fault{"launch:1", "E6008 device_error"}, Fault{"launch:2", "clEnqueueNDRangeKernel"},
        Fault{"launch:3", "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5)"},
        Fault{"launch:4", "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5)"},
        Fault{"event:2", "its event ended with CL_OUT_OF_RESOURCES (-5)"},
        Fault{"event:5", "a slice ended with CL_OUT_OF_RESOURCES (-5)"},
        Fault{"memory:1", "E6004 allocation_failure"}, Fault{"memory:2", "clSVMAlloc"},
        Fault{"memory:3", "clSVMAlloc of 65536 bytes returned nothing"},
        Fault{"memory:4", "clSVMAlloc"}, Fault{"build:1", "kernels/layout_probe.cl"},
        Fault{"build:2", "kernels/self_test.cl"}, Fault{"build:3", "kernels/programs/echo.cl"}),
    [](const auto& fault) {
      std::string name = fault.param.plan;
      name.replace(name.find(':'), 1, "_");
      return name;
    });

TEST_F(OpenClEnvironment, TheFaultLayerWithoutAPlanChangesNothing) {
  const ChildResult result = child({"slices", "3"}, {{"OPENCL_LAYERS", RK_FAULT_LAYER}});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("all slices returned"));
}

}  // namespace
}  // namespace ringkernel::backend
