// Zeroed memory is inert: what the host has not written yet moves no executor to anything.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/registry.hpp"
#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/doorbell.h"
#include "ringkernel/protocol/telemetry_block.h"
#include "ringkernel/protocol/version.h"
#include "support/programs.hpp"
#include "support/skip.hpp"

namespace ringkernel::test {
namespace {

constexpr std::uint64_t arena_bytes = 1 << 20;
constexpr std::uint64_t executor_offset = RK_LINE_BYTES;
constexpr std::uint32_t kernel_count = 2 * RK_DOORBELLS_PER_LINE;

/// A device of the backend that is the parameter, with its arena.
class ZeroedMemory : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const backend::Backend driver = backend::find_backend(GetParam()).value();
    if (driver.score() <= 0) RK_SKIP_WITHOUT(GetParam(), "it cannot serve on this machine");
    auto device = driver.open(0, {.struct_bytes = 0,
                                  .executors_max = 1,
                                  .arena_bytes = arena_bytes,
                                  .transfer = RK_TRANSFER_NONE,
                                  .work_groups = 1,
                                  .test_anew = 0,
                                  .driver_timeout_ns = 0,
                                  .end_timeout_ns = 0});
    ASSERT_TRUE(device) << device.error().text();
    device_.emplace(std::move(*device));
    arena_ = static_cast<std::byte*>(device_->state().value().arena);
  }

  /// Runs one slice of `program` to its end, which does not wait for anybody to stop it.
  void run_slice(const char* program) {
    auto executor = device_->create_executor(testing::built_in(program), executor_offset);
    ASSERT_TRUE(executor) << executor.error().text();
    ASSERT_TRUE(executor->launch(1));
    const auto ended = executor->wait(std::chrono::seconds(30));
    if (!ended) at<rk_executor_host_line>(executor_offset).stop = 1;
    ASSERT_TRUE(ended) << ended.error().text();
  }

  template <class T>
  T& at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(arena_ + offset);
  }
  [[nodiscard]] std::vector<std::byte> bytes() const { return {arena_, arena_ + arena_bytes}; }

 private:
  std::optional<backend::OpenDevice> device_;
  std::byte* arena_ = nullptr;
};

TEST_P(ZeroedMemory, IsNoExecutor) {
  for (const char* program : {"core", "echo"}) {
    run_slice(program);
    EXPECT_EQ(std::ranges::count(bytes(), std::byte{0}), static_cast<std::ptrdiff_t>(arena_bytes))
        << program;
  }
}

/// An executor whose kernels all were rung, and of which nothing but the doorbells was ever
/// written.
TEST_P(ZeroedMemory, HoldsNoRingKernel) {
  auto& host = at<rk_executor_host_line>(executor_offset);
  std::uint64_t end = executor_offset + sizeof host;
  const auto place = [&end](std::uint64_t size) { return std::exchange(end, end + size); };
  host.magic = RK_PROTOCOL_MAGIC;
  host.version = RK_PROTOCOL_VERSION;
  host.kernel_count = host.kernel_capacity = kernel_count;
  host.work_groups = 1;
  host.idle_polls_max = 1;
  host.drain_records_max = 1;
  host.device_line = place(sizeof(rk_executor_device_line));
  host.input_doorbells = place(2 * sizeof(rk_doorbell_line));
  host.output_doorbells = place(2 * sizeof(rk_doorbell_line));
  host.kernel_host_lines = place(kernel_count * sizeof(rk_kernel_host_line));
  host.kernel_device_lines = place(kernel_count * sizeof(rk_kernel_device_line));
  host.telemetry_blocks = place(kernel_count * sizeof(rk_telemetry_block));
  for (std::uint64_t line = 0; line < 2; ++line)
    std::ranges::fill(
        at<rk_doorbell_line>(host.input_doorbells + line * sizeof(rk_doorbell_line)).epoch, 7u);
  const std::vector<std::byte> before = bytes();

  run_slice("core");

  auto& device = at<rk_executor_device_line>(host.device_line);
  EXPECT_EQ(device.parked_slice, 1u);
  EXPECT_EQ(device.end_reason, RK_SLICE_IDLE);
  EXPECT_EQ(device.records, 0u);
  device = {};
  EXPECT_EQ(bytes(), before) << "written outside of the executor's own line";
}

std::string label(const ::testing::TestParamInfo<const char*>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Backends, ZeroedMemory, ::testing::Values("native", "opencl"), label);

}  // namespace
}  // namespace ringkernel::test
