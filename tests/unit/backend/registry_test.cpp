#include "backend/registry.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "backend/native/native.hpp"
#include "backend/opencl/opencl.hpp"
#include "support/environment.hpp"
#include "support/skip.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::backend {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Registry, KnowsTheBuiltInBackendsByName) {
  for (const char* name : {"opencl", "native"}) {
    const auto backend = find_backend(name);
    ASSERT_TRUE(backend.has_value()) << name;
    EXPECT_EQ(backend->name(), name);
    EXPECT_FALSE(backend->description().empty());
  }
}

#if defined(__x86_64__) && !defined(__clang__)
/// GCC knows the levels; the backend asks for their features. A build for one processor has none.
TEST(Registry, RunsNativeProgramsOfTheLevelThatTheProcessorHas) {
  const char* const level = __builtin_cpu_supports("x86-64-v4")   ? "x86-64-v4"
                            : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3"
                                                                  : "x86-64-v2";
  const auto description = find_backend("native")->describe(0);
  ASSERT_TRUE(description.has_value());
  EXPECT_THAT(std::string(description->version), AnyOf(level, "portable"));
}
#endif

TEST(Registry, ListsWhatThereIsForAnUnknownName) {
  const auto backend = find_backend("quantum");
  ASSERT_FALSE(backend.has_value());
  EXPECT_TRUE(backend.error() == Errc::backend_unavailable);
  EXPECT_THAT(backend.error().detail, HasSubstr("'quantum'; there are: native opencl"));
}

/// With the folder of a plugin, of a file that is none, and of what is no library at all.
TEST(Registry, LoadsAPluginByItsPathAndByItsName) {
  const std::string path = RK_NULL_BACKEND;
  const auto by_path = find_backend(path);
  ASSERT_TRUE(by_path.has_value()) << by_path.error().detail;
  EXPECT_EQ(by_path->name(), "null");
  EXPECT_EQ(by_path->device_count().value(), 0u);
  EXPECT_TRUE(by_path->describe(0).error() == Errc::unsupported_operation);

  const std::string folder = path.substr(0, path.rfind('/'));
  EXPECT_FALSE(find_backend("null").has_value());
  const testing::Variable variable("RINGKERNEL_BACKEND_PATH", "/no/such/folder::" + folder);
  const auto by_name = find_backend("null");
  ASSERT_TRUE(by_name.has_value()) << by_name.error().detail;
  EXPECT_EQ(by_name->name(), "null");
  std::vector<std::string> refused;
  const std::vector<Backend> all = all_backends(refused);
  EXPECT_EQ(all.size(), backends().size() + 1);
  EXPECT_EQ(all.back().name(), "null");
  EXPECT_THAT(refused, ElementsAre(HasSubstr("/no/such/folder - ")));
}

/// Run by the next test, in a program that was moved.
TEST(RegistryOfAMovedProgram, DISABLED_FindsThePluginThatMovedWithIt) {
  const auto plugin = find_backend("null");
  ASSERT_TRUE(plugin.has_value()) << plugin.error().detail;
  EXPECT_EQ(plugin->name(), "null");
}

TEST(Registry, FindsPluginsWhereAnInstallationWasMovedTo) {
  namespace fs = std::filesystem;
  const testing::TempFolder folder;
  const fs::path program = folder.path() / "bin" / "program";
  const fs::path plugins = (program.parent_path() / RK_BACKEND_FOLDER_FROM_PROGRAM);
  fs::create_directories(program.parent_path());
  fs::create_directories(plugins.lexically_normal());
  fs::copy_file("/proc/self/exe", program);
  const std::vector<std::string> command{program.string(),
                                         "--gtest_filter=RegistryOfAMovedProgram*",
                                         "--gtest_also_run_disabled_tests"};
  const auto without = testing::run_child(command, {});
  EXPECT_EQ(without.exit_code, 1) << without.output;
  EXPECT_THAT(without.output, HasSubstr("tried " + plugins.lexically_normal().string()));
  fs::copy_file(RK_NULL_BACKEND, plugins.lexically_normal() / "librk_backend_null.so");
  const auto with = testing::run_child(command, {});
  EXPECT_EQ(with.exit_code, 0) << with.output;
}

TEST(Registry, TellsEveryPathThatItTriedAndWhy) {
  const testing::TempFolder folder;
  const auto plugin = folder.path() / "librk_backend_broken.so";
  const testing::Variable variable("RINGKERNEL_BACKEND_PATH", folder.path().string());
  const auto missing = find_backend("broken");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().detail, HasSubstr("there are: native opencl"));
  EXPECT_THAT(missing.error().detail, HasSubstr("tried " + plugin.string() + " - "));
  std::filesystem::copy_file(RK_OLD_LIBRARY, plugin);
  const auto no_plugin = find_backend("broken");
  ASSERT_FALSE(no_plugin.has_value());
  EXPECT_THAT(no_plugin.error().detail, HasSubstr("has no symbol rk_backend_query"));
  std::filesystem::remove(plugin);
  std::filesystem::copy_file(RK_OTHER_BACKEND, plugin);
  const auto other = find_backend("broken");
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().detail, HasSubstr("does not serve version"));
  std::vector<std::string> refused;
  EXPECT_EQ(all_backends(refused).size(), backends().size());
  EXPECT_THAT(refused, ElementsAre(HasSubstr("does not serve version")));
}

/// A folder with one good plugin in it, called "owned".
class RegistryOfAFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(RK_NULL_BACKEND, plugin_);
    chmod(plugin_.c_str(), 0755);
  }

  /// Why the plugin is not taken, by name or with all others; empty if it is.
  [[nodiscard]] std::string refusal() const {
    const testing::Variable variable("RINGKERNEL_BACKEND_PATH", folder_.path().string());
    const auto found = find_backend("owned");
    std::vector<std::string> refused;
    EXPECT_EQ(all_backends(refused).size(), backends().size() + (found.has_value() ? 1 : 0));
    EXPECT_EQ(refused.empty(), found.has_value());
    if (found.has_value()) return {};
    EXPECT_TRUE(found.error() == Errc::backend_unavailable);
    EXPECT_THAT(found.error().detail, HasSubstr("tried " + refused.at(0)));
    return refused.at(0);
  }

  testing::TempFolder folder_;
  std::filesystem::path plugin_ = folder_.path() / "librk_backend_owned.so";
};

TEST_F(RegistryOfAFolder, RefusesWhatOthersMayWriteAndNamesIt) {
  EXPECT_EQ(refusal(), "");
  chmod(plugin_.c_str(), 0757);
  EXPECT_THAT(refusal(), EndsWith(plugin_.string() + " can be written by every user; chmod go-w"));
  chmod(plugin_.c_str(), 0755);
  chmod(folder_.path().c_str(), 0770);
  EXPECT_THAT(refusal(), EndsWith(" - " + folder_.path().string() +
                                  " can be written by its group; chmod go-w"));
  chmod(folder_.path().c_str(), 0700);
  EXPECT_EQ(refusal(), "");
}

TEST_F(RegistryOfAFolder, LooksAtTheFolderThatALinkLeadsTo) {
  const testing::TempFolder other;
  std::filesystem::rename(plugin_, other.path() / "moved.so");
  std::filesystem::create_symlink(other.path() / "moved.so", plugin_);
  EXPECT_EQ(refusal(), "");
  chmod(other.path().c_str(), 0777);
  EXPECT_THAT(refusal(),
              EndsWith(other.path().string() + " can be written by every user; chmod go-w"));
}

TEST_F(RegistryOfAFolder, RefusesWhatBelongsToAnotherUser) {
  if (geteuid() != 0) RK_SKIP_WITHOUT("root", "only root can give a file away");
  for (const auto& path : {plugin_, folder_.path()}) {
    ASSERT_EQ(chown(path.c_str(), testing::nobody, static_cast<gid_t>(-1)), 0);
    EXPECT_THAT(refusal(), HasSubstr(path.string() + " belongs to user 65534, and not to root"));
    ASSERT_EQ(chown(path.c_str(), 0, static_cast<gid_t>(-1)), 0);
  }
  EXPECT_EQ(refusal(), "");
}

/// A copy of the child that is root's, whoever starts it.
TEST_F(RegistryOfAFolder, AProgramWithMoreRightsThanItsCallerDoesNotAskTheEnvironment) {
  if (geteuid() != 0) RK_SKIP_WITHOUT("root", "only root can give its rights to a program");
  const std::filesystem::path program = folder_.path() / "program";
  std::filesystem::copy_file(RK_BACKEND_CHILD, program);
  chmod(folder_.path().c_str(), 0755);
  const auto run = [&](mode_t mode) {
    chmod(program.c_str(), mode);
    return testing::run_child({program.string(), "find", "owned"},
                              {{"RINGKERNEL_BACKEND_PATH", folder_.path().string()},
                               {"TSAN_OPTIONS", ""}},  // they name a file that nobody may read
                              testing::nobody);
  };
  const auto as_nobody = run(0755);
  EXPECT_EQ(as_nobody.exit_code, 0) << as_nobody.output;
  EXPECT_THAT(as_nobody.output, HasSubstr("found null as user 65534"));
  const auto as_root = run(04755);
  if (as_root.output.find("as user 65534") != std::string::npos)
    RK_SKIP_UNSUPPORTED("programs get no rights from files in this folder");
  EXPECT_EQ(as_root.exit_code, 1) << as_root.output;
  EXPECT_THAT(as_root.output, HasSubstr("no backend is called 'owned'"));
  EXPECT_THAT(as_root.output, Not(HasSubstr(folder_.path().string())));
}

TEST(Registry, RefusesAnotherVersionOfTheInterface) {
  EXPECT_EQ(rk_backend_native(RK_BACKEND_ABI_VERSION + 1), nullptr);
  EXPECT_EQ(rk_backend_opencl(RK_BACKEND_ABI_VERSION + 1), nullptr);
}

/// Every backend: a device number behind the last is refused, and described devices are complete.
TEST(Registry, EveryBackendDescribesItsDevicesAndRefusesOthers) {
  for (const Backend& backend : backends()) {
    const auto count = backend.device_count();
    ASSERT_TRUE(count.has_value()) << count.error().text();
    for (uint32_t number = 0; number < *count; ++number) {
      const auto device = backend.describe(number);
      ASSERT_TRUE(device.has_value()) << device.error().text();
      EXPECT_NE(std::string(device->name), "");
      EXPECT_GT(device->compute_units, 0u);
      EXPECT_GE(device->memory_bytes, device->allocation_bytes_max);
    }
    EXPECT_FALSE(backend.describe(*count).has_value());
    EXPECT_FALSE(backend
                     .open(*count, {.struct_bytes = 0,
                                    .executors_max = 1,
                                    .arena_bytes = 4096,
                                    .transfer = RK_TRANSFER_NONE,
                                    .work_groups = 1,
                                    .test_anew = 0,
                                    .driver_timeout_ns = 0,
                                    .end_timeout_ns = 0})
                     .has_value());
  }
}

}  // namespace
}  // namespace ringkernel::backend
