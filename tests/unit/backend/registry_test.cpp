#include "backend/registry.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "backend/native/native.hpp"
#include "backend/opencl/opencl.hpp"
#include "support/environment.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::backend {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
                                    .test_anew = 0})
                     .has_value());
  }
}

}  // namespace
}  // namespace ringkernel::backend
