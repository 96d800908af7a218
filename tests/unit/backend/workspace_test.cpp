// An executor's workspaces on the native backend: memory that may not be there.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <fstream>

#include "backend/registry.hpp"
#include "kernels/rk_workspace.h"
#include "support/programs.hpp"
#include "unit/backend/executor_arena.hpp"

namespace ringkernel::backend {
namespace {

using ::testing::HasSubstr;

/// Leaves the process no more room for addresses than it has, and `more` bytes.
class LittleRoom {
 public:
  explicit LittleRoom(rlim_t more) {
    getrlimit(RLIMIT_AS, &before_);
    std::ifstream figures("/proc/self/statm");
    rlim_t pages = 0;
    figures >> pages;
    rlimit limit = before_;
    limit.rlim_cur = pages * 4096 + more;
    setrlimit(RLIMIT_AS, &limit);
  }
  LittleRoom(const LittleRoom&) = delete;
  LittleRoom& operator=(const LittleRoom&) = delete;
  ~LittleRoom() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST(NativeWorkspace, IsAnErrorWhereThereIsNoMemoryForIt) {
  auto device = find_backend("native")->open(0, {.struct_bytes = 0,
                                                 .executors_max = 2,
                                                 .arena_bytes = testing::ExecutorArena::bytes,
                                                 .transfer = RK_TRANSFER_ZERO_COPY,
                                                 .work_groups = RK_WORK_GROUPS_MAX,
                                                 .test_anew = 0,
                                                 .driver_timeout_ns = 0,
                                                 .end_timeout_ns = 0});
  ASSERT_TRUE(device) << device.error().text();
  const auto create = [&] {
    return device->create_executor(testing::built_in("core"),
                                   testing::ExecutorArena::executor_offset, RK_WORK_GROUPS_MAX);
  };
  {
    const LittleRoom room(RK_WORK_GROUPS_MAX * RK_WORKSPACE_BYTES / 2);
    const auto executor = create();
    ASSERT_TRUE(executor.has_error());
    EXPECT_EQ(executor.error(), Errc::allocation_failure);
    EXPECT_THAT(executor.error().text(), HasSubstr("workspace"));
  }
  EXPECT_TRUE(create().has_value());
}

}  // namespace
}  // namespace ringkernel::backend
