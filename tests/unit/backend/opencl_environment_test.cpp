// What a program sees whose OpenCL environment is broken in one way or another. The library is
// loaded once per process, so each case is a process of its own (child.cpp).
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "backend/registry.hpp"
#include "support/skip.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::backend {
namespace {

namespace fs = std::filesystem;
using ringkernel::testing::ChildResult;
using ringkernel::testing::run_child;
using ringkernel::testing::TempFolder;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

using Environment = std::vector<std::pair<std::string, std::string>>;

ChildResult child(std::vector<std::string> arguments, const Environment& environment = {}) {
  arguments.insert(arguments.begin(), RK_BACKEND_CHILD);
  return run_child(arguments, environment);
}

/// Threads that PoCL is asked for.
unsigned pocl_workers() { return std::max(2u, std::thread::hardware_concurrency()) + 1; }

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
      if (device->transfer == RK_TRANSFER_NONE) continue;
      device_name_ = device->name;
      is_pocl_ = std::string(device->platform) == "Portable Computing Language";
      shares_all_memory_ = std::string(device->capabilities).find("system memory") != npos;
      break;  // what a child opens
    }
    if (device_name_.empty()) RK_SKIP_WITHOUT("opencl", "no device that can serve");
  }

  /// The vendor folder in use with its drivers beside the broken ones.
  static void add_drivers_in_use(const VendorFolder& folder) {
    const char* const chosen = std::getenv("OCL_ICD_VENDORS");
    for (const auto& entry :
         fs::directory_iterator(chosen != nullptr ? chosen : "/etc/OpenCL/vendors"))
      fs::copy(entry.path(), fs::path(folder.path()) / entry.path().filename());
  }

  static constexpr auto npos = std::string::npos;
  std::string device_name_;
  bool is_pocl_ = false;
  bool shares_all_memory_ = false;
};

TEST_F(OpenClEnvironment, TakesNoOtherLibraryThanTheOneThatWasAskedFor) {
  for (const std::string path : {"/nowhere/libOpenCL.so", "/etc/passwd"}) {
    const Environment environment = {{"RINGKERNEL_OPENCL_LIBRARY", path}};
    const ChildResult discovered = child({"discover"}, environment);
    EXPECT_EQ(discovered.exit_code, 0) << discovered.output;
    EXPECT_THAT(discovered.output, HasSubstr("score 0"));
    EXPECT_THAT(discovered.output,
                ContainsRegex("report library " + path + " - [^\n]* .RINGKERNEL_OPENCL_LIBRARY."));
    const ChildResult opened = child({"open"}, environment);
    EXPECT_EQ(opened.exit_code, 1) << opened.output;
    EXPECT_THAT(opened.output, HasSubstr("library_not_found"));
    EXPECT_THAT(opened.output, HasSubstr(path + " - "));
  }
}

/// Files that are no libraries stand where the system's loader would be found.
TEST_F(OpenClEnvironment, ListsEveryPathTriedWhenThereIsNoLibrary) {
  const VendorFolder folder;
  folder.add_file("libOpenCL.so.1", "no library");
  folder.add_file("libOpenCL.so", "no library");
  const Environment environment = {{"LD_LIBRARY_PATH", folder.path()}};
  const ChildResult discovered = child({"discover"}, environment);
  EXPECT_EQ(discovered.exit_code, 0) << discovered.output;
  EXPECT_THAT(discovered.output, HasSubstr("score 0"));
  const ChildResult opened = child({"open"}, environment);
  EXPECT_EQ(opened.exit_code, 1) << opened.output;
  EXPECT_THAT(opened.output, HasSubstr("library_not_found"));
  for (const std::string path : {"libOpenCL.so.1", "libOpenCL.so"}) {
    EXPECT_THAT(discovered.output, HasSubstr("report library " + path + " - "));
    EXPECT_THAT(opened.output, HasSubstr(path + " - "));
  }
}

TEST_F(OpenClEnvironment, NamesTheSymbolThatALibraryLacks) {
  const ChildResult result = child({"discover"}, {{"RINGKERNEL_OPENCL_LIBRARY", "libm.so.6"}});
  EXPECT_THAT(result.output, HasSubstr("report library libm.so.6 - "
                                       "has no symbol clGetPlatformIDs"));
}

TEST_F(OpenClEnvironment, TakesALibraryOfOpenCl12AsItIs) {
  const Environment environment = {{"RINGKERNEL_OPENCL_LIBRARY", RK_OLD_LIBRARY}};
  EXPECT_THAT(child({"discover"}, environment).output, Not(HasSubstr("report library")));
  const ChildResult opened = child({"open"}, environment);
  EXPECT_EQ(opened.exit_code, 1) << opened.output;
  EXPECT_THAT(opened.output, HasSubstr("no OpenCL driver is installed"));
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
  add_drivers_in_use(folder);
  for (int i = 0; i < 8; ++i) folder.add("broken-" + std::to_string(i) + ".icd", RK_BROKEN_DRIVER);
  const ChildResult result =
      child({"discover"}, {{"OCL_ICD_VENDORS", folder.path()}, {"OCL_ICD_PLATFORM_SORT", "none"}});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("device " + device_name_));
  EXPECT_THAT(result.output, HasSubstr("report platform Broken Driver: clGetDeviceIDs: "
                                       "CL_OUT_OF_RESOURCES (-5)"));
}

/// A copy of the child that is root's, whoever starts it.
TEST_F(OpenClEnvironment, AProgramWithMoreRightsThanItsCallerLoadsTheSystemsDrivers) {
  if (geteuid() != 0) RK_SKIP_WITHOUT("root", "only root can give its rights to a program");
  if (std::getenv("OCL_ICD_VENDORS") != nullptr)
    RK_SKIP_UNSUPPORTED("these tests use other drivers than the system's");
  const VendorFolder folder;  // no driver in it
  const fs::path program = fs::path(folder.path()) / "program";
  fs::copy_file(RK_BACKEND_CHILD, program);
  chmod(folder.path().c_str(), 0755);
  const auto run = [&](const std::vector<std::string>& arguments,
                       const std::string& library = "/nowhere/libOpenCL.so") {
    std::vector<std::string> command{program.string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_child(command,
                     {{"OCL_ICD_VENDORS", folder.path()},
                      {"OPENCL_VENDOR_PATH", folder.path()},
                      {"RINGKERNEL_OPENCL_LIBRARY", library}},
                     testing::nobody);
  };
  chmod(program.c_str(), 0755);
  EXPECT_THAT(run({"discover"}).output, HasSubstr("report library /nowhere/libOpenCL.so"));
  EXPECT_THAT(run({"discover"}, "").output, HasSubstr("report no OpenCL driver is installed"));
  chmod(program.c_str(), 04755);
  const ChildResult as_root = run({"discover"});
  if (run({"find", "native"}).output.find("as user 0") == npos)
    RK_SKIP_UNSUPPORTED("programs get no rights from files in this folder");
  EXPECT_EQ(as_root.exit_code, 0) << as_root.output;
  EXPECT_THAT(as_root.output, HasSubstr("device " + device_name_));
  EXPECT_THAT(as_root.output, Not(HasSubstr("/nowhere")));
}

TEST_F(OpenClEnvironment, ReportsADriverThatDoesNotLoadAndKeepsTheOthers) {
  const VendorFolder folder;
  add_drivers_in_use(folder);
  folder.add("a-missing.icd", "libno-such-driver.so");
  const ChildResult result = child({"discover"}, {{"OCL_ICD_VENDORS", folder.path()}});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("device " + device_name_));
  EXPECT_THAT(result.output, HasSubstr("a-missing.icd: libno-such-driver.so - "));
}

TEST_F(OpenClEnvironment, RefusesASwitchOfTheCacheThatIsNeitherOnNorOff) {
  const ChildResult result = child({"open"}, {{"RINGKERNEL_CACHE", "junk"}});
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("invalid_argument"));
  EXPECT_THAT(result.output, HasSubstr("RINGKERNEL_CACHE is 'junk'; there are 0 and 1"));
}

/// PoCL adds the flags to every build. A program from the cache is not built.
Environment building_with(const std::string& flags) {
  return {{"POCL_EXTRA_BUILD_FLAGS", flags}, {"RINGKERNEL_CACHE", "0"}};
}

TEST_F(OpenClEnvironment, RefusesToOpenADeviceWithAnotherLayoutAndNamesTheField) {
  if (!is_pocl_) RK_SKIP_WITHOUT("pocl", "only PoCL has such a variable");
  const ChildResult result = child({"open"}, building_with("-DRK_LAYOUT_PROBE_SKEW=4"));
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("protocol_mismatch"));
  EXPECT_THAT(result.output, HasSubstr("rk_executor_host_line.magic: host 0, device 4"));
}

TEST_F(OpenClEnvironment, ShowsTheCompilersLogWhenABuildFails) {
  if (!is_pocl_) RK_SKIP_WITHOUT("pocl", "only PoCL has such a variable");
  const ChildResult result =
      child({"open"}, building_with("-DRK_LAYOUT_PROBE_SKEW=undeclared_word"));
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("build_failed"));
  EXPECT_THAT(result.output, HasSubstr("CL_BUILD_PROGRAM_FAILURE (-11)"));
  EXPECT_THAT(result.output, HasSubstr("undeclared_word"));
}

TEST_F(OpenClEnvironment, ReservesWorkersForResidentSlicesUnlessTheUserChose) {
  if (!is_pocl_) RK_SKIP_WITHOUT("pocl", "only PoCL has such a variable");
  const std::string more = std::to_string(pocl_workers() + 4);
  EXPECT_THAT(
      child({"discover"}, {{"POCL_MAX_PTHREAD_COUNT", ""}, {"POCL_CPU_MAX_CU_COUNT", ""}}).output,
      HasSubstr(", " + std::to_string(pocl_workers()) + " units"));
  EXPECT_THAT(
      child({"discover"}, {{"POCL_MAX_PTHREAD_COUNT", more}, {"POCL_CPU_MAX_CU_COUNT", more}})
          .output,
      HasSubstr(", " + more + " units"));
}

/// Where PoCL has a cache folder that it cannot make: below a file.
Environment without_a_home() {
  return {{"XDG_CACHE_HOME", ""}, {"HOME", "/dev/null/home"}, {"POCL_CACHE_DIR", ""}};
}

std::string private_folder() { return "/tmp/ringkernel-" + std::to_string(geteuid()); }

TEST_F(OpenClEnvironment, PoClHasAPrivateCacheWhereItCannotMakeItsOwn) {
  if (!is_pocl_) RK_SKIP_WITHOUT("pocl", "only PoCL has no device then");
  const ChildResult opened = child({"open"}, without_a_home());
  EXPECT_EQ(opened.exit_code, 0) << opened.output;
  struct stat what {};
  ASSERT_EQ(lstat(private_folder().c_str(), &what), 0);
  EXPECT_EQ(what.st_mode, S_IFDIR | S_IRWXU);
  const ChildResult found = child({"discover"}, without_a_home());
  EXPECT_THAT(found.output, HasSubstr("device " + device_name_));
  EXPECT_THAT(
      found.output,
      ContainsRegex("report platform .*/dev/null/home/.cache/pocl/kcache': Not a directory; "
                    "it has '" +
                    private_folder() + "/pocl' instead"));
}

TEST_F(OpenClEnvironment, PoClHasAPrivateCacheWhereItsOwnWouldBeEverybodys) {
  if (!is_pocl_) RK_SKIP_WITHOUT("pocl", "only PoCL has such folders");
  const TempFolder home;
  const fs::path own = home.path() / "pocl" / "kcache";
  fs::create_directories(own);
  const Environment environment = {{"XDG_CACHE_HOME", home.path()}, {"POCL_CACHE_DIR", ""}};
  EXPECT_THAT(child({"discover"}, environment).output, Not(HasSubstr("report")));
  chmod(own.c_str(), 0777);
  EXPECT_THAT(child({"discover"}, environment).output,
              HasSubstr(own.string() + "': every user can write it; it has "));
  // What is to be made there, or lies there, somebody else could replace.
  chmod(own.c_str(), 0700);
  chmod(home.path().c_str(), 0777);
  EXPECT_THAT(child({"discover"}, environment).output,
              HasSubstr("'" + home.path().string() + "': every user can write it; it has "));
  fs::remove_all(own.parent_path());
  chmod(home.path().c_str(), 01777);
  EXPECT_THAT(child({"discover"}, environment).output,
              HasSubstr(own.string() + "': every user can write it; it has "));
  const Environment none = {{"XDG_CACHE_HOME", ""}, {"HOME", ""}, {"POCL_CACHE_DIR", ""}};
  EXPECT_THAT(child({"discover"}, none).output,
              HasSubstr("neither XDG_CACHE_HOME nor HOME names one; it has "));
}

TEST_F(OpenClEnvironment, OpenSaysWhichCacheFolderPoClCannotMake) {
  if (!is_pocl_) RK_SKIP_WITHOUT("pocl", "only PoCL has no device then");
  Environment environment = without_a_home();
  environment.emplace_back("POCL_CACHE_DIR", "/dev/null/cache");
  const ChildResult opened = child({"open"}, environment);
  EXPECT_EQ(opened.exit_code, 1) << opened.output;
  EXPECT_THAT(opened.output, HasSubstr("E6002"));
  EXPECT_THAT(opened.output, HasSubstr("POCL_CACHE_DIR='/dev/null/cache': Not a directory; set "
                                       "POCL_CACHE_DIR or XDG_CACHE_HOME to a folder"));
}

/// PoCL ends whoever loads such an entry.
TEST_F(OpenClEnvironment, ADamagedCacheOfPoClEndsOneProcessOnly) {
  if (!is_pocl_) RK_SKIP_WITHOUT("pocl", "only PoCL has such folders");
  const TempFolder home;
  const fs::path own = home.path() / "pocl" / "kcache";
  const Environment environment = {
      {"XDG_CACHE_HOME", home.path()},
      {"POCL_CACHE_DIR", ""},
      {"RINGKERNEL_CACHE", "0"},
      {"ASAN_OPTIONS", "detect_leaks=0:use_sigaltstack=0"}};  // PoCL's compiler
  ASSERT_EQ(child({"open"}, environment).exit_code, 0);
  const auto cut = [&](std::uintmax_t divisor) {
    std::size_t entries = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(own)) {
      if (entry.path().extension() != ".bc") continue;
      fs::resize_file(entry.path(), entry.file_size() / divisor);
      ++entries;
    }
    return entries;
  };
  ASSERT_NE(cut(2), 0u);
  EXPECT_NE(child({"open"}, environment).exit_code, 0);
  EXPECT_EQ(child({"open"}, environment).exit_code, 0);
  EXPECT_THAT(child({"discover"}, environment).output,
              HasSubstr("'" + own.string() +
                        "': a process ended while PoCL worked there; if an "
                        "entry is damaged, each one would; remove this folder to have it used "
                        "again; it has '" +
                        private_folder() + "/pocl' instead"));
  fs::remove_all(own);
  EXPECT_THAT(child({"discover"}, environment).output, Not(HasSubstr("report")));
  ASSERT_EQ(child({"open"}, environment).exit_code, 0);
  cut(std::numeric_limits<std::uintmax_t>::max());  // empty ones PoCL does not mind
  EXPECT_THAT(child({"open"}, environment).output,
              HasSubstr("so what the driver has kept of it is damaged; PoCL keeps it in '" +
                        own.string() + "', which can be removed"));
}

/// PoCL would end the process, when it cannot run its linker.
TEST_F(OpenClEnvironment, OpenSaysThatThereAreTooFewFiles) {
  const TempFolder home;
  const std::string with_few = "ulimit -n 17; exec \"$0\" open";
  const ChildResult opened =
      run_child({"/bin/sh", "-c", with_few, RK_BACKEND_CHILD},
                {{"XDG_CACHE_HOME", home.path()}, {"RINGKERNEL_CACHE", "0"}});
  EXPECT_EQ(opened.exit_code, 1) << opened.output;
  EXPECT_THAT(opened.output, ContainsRegex("E6002.*need 16 files, and this process .ulimit -n. has "
                                           "only [0-9]+ left"));
}

/// Somebody else was first in the place of the private folder. PoCL alone would take the other one.
TEST_F(OpenClEnvironment, OpenSaysThatThePrivateCacheIsAnotherUsers) {
  if (!is_pocl_) RK_SKIP_WITHOUT("pocl", "only PoCL has no device then");
  if (geteuid() != 0) RK_SKIP_WITHOUT("root", "only root can run it as another user");
  constexpr uid_t somebody = 65533;
  const fs::path taken = "/tmp/ringkernel-" + std::to_string(somebody);
  fs::remove_all(taken);
  fs::create_directory(taken);
  const TempFolder folder;  // where somebody may run it; the build's may be ours alone
  chmod(folder.path().c_str(), 0755);
  const fs::path program = folder.path() / "program";
  fs::copy_file(RK_BACKEND_CHILD, program);
  const fs::path own = folder.path() / "pocl" / "kcache";
  fs::create_directories(own);
  chmod(own.c_str(), 0777);
  const Environment environment = {
      {"XDG_CACHE_HOME", folder.path()}, {"POCL_CACHE_DIR", ""}, {"TSAN_OPTIONS", ""}};
  const ChildResult opened = run_child({program.string(), "open"}, environment, somebody);
  fs::remove_all(taken);
  EXPECT_EQ(opened.exit_code, 1) << opened.output;
  EXPECT_THAT(opened.output, HasSubstr("'" + own.string() + "': every user can write it"));
  EXPECT_THAT(opened.output, HasSubstr("'" + taken.string() + "': another user's; set "));
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
  const char* plan;          ///< RK_FAULT, see fault_layer.cpp
  const char* expected;      ///< in the output
  bool is_of_arena = false;  ///< counted with the arena's allocation
};

class OpenClFault : public OpenClEnvironment, public ::testing::WithParamInterface<Fault> {};

/// Launches 1 to 3 are the layout probe, the self-test and the warm-up; the others are slices. On
/// PoCL the probe of host threads is the second one; nothing depends on it.
std::string plan_of(const Fault& fault, bool is_pocl) {
  const std::string plan = fault.plan;
  const std::size_t colon = plan.find(':');
  const int number = std::stoi(plan.substr(colon + 1));
  const bool is_later = is_pocl && !plan.starts_with("memory") && number > 1;
  return plan.substr(0, colon + 1) + std::to_string(number + (is_later ? 1 : 0)) +
         (plan.ends_with('+') ? "+" : "");
}

TEST_P(OpenClFault, BecomesAnErrorThatNamesTheCall) {
  if (shares_all_memory_ && GetParam().is_of_arena)
    RK_SKIP_UNSUPPORTED("the arena is the process's own memory");
  const ChildResult result = child({"slices", "3"}, {{"OPENCL_LAYERS", RK_FAULT_LAYER},
                                                     {"RK_FAULT", plan_of(GetParam(), is_pocl_)},
                                                     {"RINGKERNEL_CACHE", "0"}});
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    , OpenClFault,
    ::testing::Values(Fault{"launch:1+", "E6008 device_error"},
                      Fault{"launch:2+", "clEnqueueNDRangeKernel"},
                      Fault{"launch:3+", "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5)"},
                      Fault{"launch:4+", "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5)"},
                      Fault{"event:2", "its event ended with CL_OUT_OF_RESOURCES (-5)"},
                      Fault{"event:5", "a slice ended with CL_OUT_OF_RESOURCES (-5)"},
                      Fault{"memory:1", "zero_copy: clSVMAlloc of 1280 bytes returned nothing"},
                      Fault{"memory:2", "clSVMAlloc of 65536 bytes returned nothing", true},
                      Fault{"buffer:1", "clCreateBuffer: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)"},
                      Fault{"build:1", "kernels/layout_probe.cl"},
                      Fault{"build:2", "kernels/self_test.cl"}, Fault{"build:3", "program 'echo'"}),
    [](const auto& fault) {
      std::string name = fault.param.plan;
      name.replace(name.find(':'), 1, "_");
      if (name.ends_with('+')) name.pop_back();
      return name;
    });

TEST_F(OpenClEnvironment, ASliceThatRanIsNotRunAgain) {
  if (is_pocl_) RK_SKIP_UNSUPPORTED("no slice runs within the call that launches it");
  const ChildResult result =
      child({"slices", "3"},
            {{"OPENCL_LAYERS", RK_FAULT_LAYER}, {"RK_FAULT", "ran:4"}, {"RINGKERNEL_CACHE", "0"}});
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5)"));
}

TEST_F(OpenClEnvironment, WithoutTheProbeOfHostThreadsIdleSlicesSpin) {
  if (!is_pocl_) RK_SKIP_WITHOUT("pocl", "only PoCL is asked");
  const ChildResult able = child({"slices", "3"}, {{"RINGKERNEL_CACHE", "0"}});
  EXPECT_THAT(able.output, HasSubstr("idle slices yield"));
  for (const char* plan : {"launch:2+", "build:2"}) {
    const ChildResult result =
        child({"slices", "3"},
              {{"OPENCL_LAYERS", RK_FAULT_LAYER}, {"RK_FAULT", plan}, {"RINGKERNEL_CACHE", "0"}});
    EXPECT_EQ(result.exit_code, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr("idle slices spin"));
  }
}

TEST_F(OpenClEnvironment, RemembersTheChoiceForTheNextProcess) {
  const TempFolder home;
  const auto open = [&](const char* cache, const char* command = "open") {
    return child({command}, {{"XDG_CACHE_HOME", home.path()}, {"RINGKERNEL_CACHE", cache}}).output;
  };
  EXPECT_THAT(open(""), Not(HasSubstr("remembered")));
  EXPECT_THAT(open(""), HasSubstr("remembered"));
  EXPECT_THAT(open("0"), Not(HasSubstr("remembered")));
  EXPECT_THAT(open("", "anew"), Not(HasSubstr("remembered")));
  const ChildResult more =
      child({"open"}, {{"XDG_CACHE_HOME", home.path()},
                       {"RINGKERNEL_CACHE", ""},
                       {"POCL_MAX_PTHREAD_COUNT", std::to_string(pocl_workers() + 4)}});
  if (is_pocl_) {
    EXPECT_THAT(more.output, Not(HasSubstr("remembered"))) << "another number of units";
  }
}

TEST_F(OpenClEnvironment, TheFaultLayerWithoutAPlanChangesNothing) {
  const ChildResult result = child({"slices", "3"}, {{"OPENCL_LAYERS", RK_FAULT_LAYER}});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("all slices returned"));
}

}  // namespace
}  // namespace ringkernel::backend
