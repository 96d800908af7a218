// How many work-groups of one launch run together: what the device claims is proven, what it cannot
// do is found out.
#include <gmock/gmock.h>

#include <algorithm>

#include "backend/opencl/program.hpp"
#include "backend/opencl/query.hpp"
#include "backend/opencl/self_test/self_test.hpp"
#include "backend/registry.hpp"
#include "support/programs.hpp"
#include "support/skip.hpp"
#include "unit/backend/executor_arena.hpp"

namespace ringkernel::opencl {
namespace {

using ::testing::HasSubstr;

class WorkGroups : public ::testing::Test {
 protected:
  void SetUp() override {
    if (load_library().api.has_value())
      for (const FoundDevice& device : discover().devices)
        if (device.description.transfer == RK_TRANSFER_ZERO_COPY) found_ = &device;
    if (found_ == nullptr) RK_SKIP_WITHOUT("opencl", "no device with fine-grained shared memory");
  }

  /// The self-test alone.
  Result<uint32_t> test(uint32_t work_groups) {
    RK_TRY(options, build_options(found_->id));
    cl_int status = CL_SUCCESS;
    const Context context(cl().clCreateContext(nullptr, 1, &found_->id, nullptr, nullptr, &status));
    RK_TRY_VOID(check("clCreateContext", status));
    BinaryCache cache(*found_);
    return test_work_groups({context.get(), found_->id, options, cache}, work_groups);
  }
  Result<backend::OpenDevice> open(uint32_t work_groups) {
    return backend::find_backend("opencl")->open(static_cast<uint32_t>(number()),
                                                 {.struct_bytes = 0,
                                                  .executors_max = 1,
                                                  .arena_bytes = testing::ExecutorArena::bytes,
                                                  .transfer = RK_TRANSFER_ZERO_COPY,
                                                  .work_groups = work_groups,
                                                  .test_anew = 0,
                                                  .driver_timeout_ns = 0,
                                                  .end_timeout_ns = 0});
  }
  [[nodiscard]] std::ptrdiff_t number() const {
    const auto& devices = discover().devices;
    return std::ranges::find(devices, found_->id, &FoundDevice::id) - devices.begin();
  }

  const FoundDevice* found_ = nullptr;
};

TEST_F(WorkGroups, RunTogetherAsManyAsTheDeviceClaims) {
  const uint32_t claimed = found_->description.work_groups_max;
  EXPECT_EQ(test(claimed).value(), claimed);
}

// A CPU device has one worker for each unit, and runs a work-group on it to the end.
TEST_F(WorkGroups, MoreThanThereAreUnitsAreFoundOut) {
  if (found_->description.kind != RK_DEVICE_KIND_CPU) RK_SKIP_UNSUPPORTED("not a CPU");
  const uint32_t units = found_->description.compute_units;
  const uint32_t together = test(units + 2).value();
  EXPECT_GE(together, 1u);
  EXPECT_LE(together, units);
}

TEST_F(WorkGroups, ADeviceHasThoseThatWereAskedForAndRun) {
  const uint32_t claimed = found_->description.work_groups_max;
  EXPECT_EQ(open(0)->state()->work_groups, 1u);
  EXPECT_EQ(open(1)->state()->work_groups, 1u);
  auto device = open(RK_WORK_GROUPS_MAX);
  ASSERT_TRUE(device) << device.error().text();
  EXPECT_EQ(device->state()->work_groups, claimed);
  EXPECT_THAT(device->state()->self_test,
              HasSubstr(claimed == 1 ? "zero_copy confirmed"
                                     : std::to_string(claimed) + " work-groups run together"));
  const auto executor = device->create_executor(
      testing::built_in("echo"), testing::ExecutorArena::executor_offset, claimed + 1);
  ASSERT_TRUE(executor.has_error());
  EXPECT_EQ(executor.error(), Errc::limit_exceeded);
}

}  // namespace
}  // namespace ringkernel::opencl
