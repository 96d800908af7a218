#include "backend/registry.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "backend/native/native.hpp"
#include "backend/opencl/opencl.hpp"

namespace ringkernel::backend {
namespace {

using testing::HasSubstr;

TEST(Registry, KnowsTheBuiltInBackendsByName) {
  for (const char* name : {"opencl", "native"}) {
    const auto backend = find_backend(name);
    ASSERT_TRUE(backend.has_value()) << name;
    EXPECT_EQ(backend->name(), name);
    EXPECT_FALSE(backend->description().empty());
  }
}

TEST(Registry, ListsWhatThereIsForAnUnknownName) {
  const auto backend = find_backend("quantum");
  ASSERT_FALSE(backend.has_value());
  EXPECT_TRUE(backend.error() == Errc::backend_unavailable);
  EXPECT_THAT(backend.error().detail, HasSubstr("'quantum'; there are: opencl native"));
}

TEST(Registry, PrefersTheBackendWithTheHighestScore) {
  const auto best = best_backend();
  ASSERT_TRUE(best.has_value());
  for (const Backend& backend : backends()) EXPECT_GE(best->score(), backend.score());
  EXPECT_GT(best->score(), 0);
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
