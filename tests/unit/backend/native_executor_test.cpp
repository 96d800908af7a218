// Slices of the native backend's executor on an arena that holds no ring kernel, and which
// strategies that backend refuses.
#include "backend/native/executor.hpp"

#include <gmock/gmock.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "backend/registry.hpp"
#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/doorbell.h"
#include "ringkernel/protocol/version.h"
#include "support/programs.hpp"

namespace ringkernel::native {
namespace {

using ::testing::HasSubstr;

class NativeExecutor : public ::testing::Test {
 protected:
  static constexpr std::uint64_t offset = RK_LINE_BYTES;
  static constexpr std::uint64_t wait_ns = 60'000'000'000;

  /// One that parks as soon as it has looked at its doorbells.
  void create(std::uint32_t work_groups) {
    auto& host = at<rk_executor_host_line>(offset);
    host.magic = RK_PROTOCOL_MAGIC;
    host.version = RK_PROTOCOL_VERSION;
    host.kernel_capacity = RK_DOORBELLS_PER_LINE;
    host.work_groups = work_groups;
    host.idle_polls_max = 1;
    host.drain_records_max = 1;
    std::uint64_t end = offset + sizeof host;
    host.device_line = std::exchange(end, end + work_groups * sizeof(rk_executor_device_line));
    host.input_doorbells = std::exchange(end, end + sizeof(rk_doorbell_line));
    host.output_doorbells = std::exchange(end, end + sizeof(rk_doorbell_line));
    host.kernel_host_lines = std::exchange(end, end + 4096);
    host.kernel_device_lines = std::exchange(end, end + 4096);
    host.telemetry_blocks = end;
    executor_ = HostExecutor::create({arena_.data(), arena_.bytes()}, testing::built_in("echo"),
                                     offset, work_groups)
                    .value();
  }
  [[nodiscard]] std::uint32_t parked_slice(std::uint32_t group = 0) {
    const auto& host = at<rk_executor_host_line>(offset);
    return at<rk_executor_device_line>(host.device_line + group * sizeof(rk_executor_device_line))
        .parked_slice;
  }
  template <class T>
  T& at(std::uint64_t place) {
    return *reinterpret_cast<T*>(arena_.data() + place);
  }

  Memory arena_ = Memory::map("an arena", 1 << 20).value();
  std::unique_ptr<HostExecutor> executor_;
};

TEST_F(NativeExecutor, RunsSlicesOnTheCallersThreadOrItsOwn) {
  create(1);
  EXPECT_TRUE(executor_->run(1));
  EXPECT_EQ(parked_slice(), 1u);
  executor_->launch(2);
  EXPECT_TRUE(executor_->wait(wait_ns));
  EXPECT_EQ(parked_slice(), 2u);
  executor_->forget();
  EXPECT_TRUE(executor_->run(3));
  EXPECT_EQ(parked_slice(), 3u);
}

TEST_F(NativeExecutor, OfSeveralWorkGroupsNoCallerRunsASlice) {
  create(3);
  EXPECT_FALSE(executor_->run(1));
  executor_->launch(1);
  EXPECT_TRUE(executor_->wait(wait_ns));
  for (std::uint32_t group = 0; group < 3; ++group) EXPECT_EQ(parked_slice(group), 1u) << group;
}

TEST_F(NativeExecutor, ReplacesNoProgramOfOursAndNothingUnprepared) {
  create(1);
  EXPECT_EQ(executor_->prepare(testing::built_in("core")).error(), Errc::unsupported);
  EXPECT_EQ(executor_->replace(wait_ns).error(), Errc::invalid_argument);
}

TEST(NativeMemory, IsZeroedAndAnErrorWhereThereIsNone) {
  const Memory memory = Memory::map("a thing", 10'000).value();
  EXPECT_EQ(std::count(memory.data(), memory.data() + memory.bytes(), std::byte{0}), 10'000);
  const auto none = Memory::map("a thing", std::uint64_t{1} << 62);
  ASSERT_TRUE(none.has_error());
  EXPECT_EQ(none.error(), Errc::allocation_failure);
  EXPECT_THAT(none.error().detail, HasSubstr("a thing of 4611686018427387904 bytes"));
}

TEST(NativeBackend, HasOneMemoryAndSaysSo) {
  const backend::Backend native = backend::find_backend("native").value();
  for (const std::uint32_t transfer : {RK_TRANSFER_DMA, RK_TRANSFER_SLICED}) {
    rk_device_options options{};
    options.arena_bytes = 4096;
    options.transfer = transfer;
    const auto device = native.open(0, options);
    ASSERT_TRUE(device.has_error()) << transfer;
    EXPECT_EQ(device.error(), Errc::backend_unavailable);
    EXPECT_THAT(device.error().detail, HasSubstr("no strategy but zero_copy"));
  }
}

TEST(NativeBackend, RefusesAnArenaThatTheHostHasNoMemoryFor) {
  const backend::Backend native = backend::find_backend("native").value();
  struct sysinfo host {};
  ASSERT_EQ(::sysinfo(&host), 0);
  const std::uint64_t memory = std::uint64_t{host.totalram} * host.mem_unit;
  const std::uint64_t swap = std::uint64_t{host.totalswap} * host.mem_unit;
  rk_device_options options{};
  for (const std::uint64_t bytes :
       {memory + swap + 1, std::uint64_t{64} << 40, ~std::uint64_t{0}}) {
    options.arena_bytes = bytes;
    const auto device = native.open(0, options);
    ASSERT_TRUE(device.has_error()) << bytes;
    EXPECT_EQ(device.error(), Errc::allocation_failure);
    EXPECT_THAT(device.error().detail,
                HasSubstr("arena_bytes is " + std::to_string(bytes) + "; this host has " +
                          std::to_string(memory) + " bytes of memory and " + std::to_string(swap) +
                          " of swap"));
  }
  options.arena_bytes = std::uint64_t{4} << 20;
  EXPECT_TRUE(native.open(0, options).has_value());
}

}  // namespace
}  // namespace ringkernel::native
