// How many work-groups of a device with memory of its own run together, beside copies.
#include <algorithm>
#include <chrono>
#include <vector>

#include "backend/opencl/copy_queue.hpp"
#include "backend/opencl/memory.hpp"
#include "backend/opencl/program.hpp"
#include "backend/opencl/self_test/self_test.hpp"
#include "backend/opencl/self_test/self_test_limits.hpp"
#include "kernels/self_test.h"

namespace ringkernel::opencl {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using Word = rk_u32 rk_self_test_device_line::*;

/// One launch of the probe kernel, and the host's copies of its lines.
class CopiedGroups {
 public:
  CopiedGroups(const Probe& probe, uint32_t work_groups, rk_u32 polls_max)
      : probe_(probe), lines_(work_groups) {
    host_.polls_max = polls_max;
  }
  CopiedGroups(const CopiedGroups&) = delete;
  CopiedGroups& operator=(const CopiedGroups&) = delete;
  /// Copies refer to this object; the kernel ends by itself.
  ~CopiedGroups() {
    for (const Queue* queue : {&copies_, &slices_})
      if (*queue) const Drain drain(queue->get());
  }

  Result<void> start(cl_kernel kernel) {
    RK_TRY(slices, make_queue(probe_.context, probe_.device));
    RK_TRY(copies, make_queue(probe_.context, probe_.device));
    RK_TRY(host, make_buffer(probe_.context, sizeof host_));
    RK_TRY(device, make_buffer(probe_.context, lines_bytes()));
    slices_ = std::move(slices);
    copies_ = std::move(copies);
    host_memory_ = std::move(host);
    device_memory_ = std::move(device);
    RK_TRY(written, enqueue_write(slices_.get(), host_memory_.get(), 0, &host_, sizeof host_));
    RK_TRY(zeroed,
           enqueue_write(slices_.get(), device_memory_.get(), 0, lines_.data(), lines_bytes()));
    RK_TRY_VOID(finish(zeroed));
    RK_TRY_VOID(set_memory_argument(kernel, 0, host_memory_.get()));
    RK_TRY_VOID(set_memory_argument(kernel, 1, device_memory_.get()));
    RK_TRY(event, enqueue_groups(slices_.get(), kernel, static_cast<uint32_t>(lines_.size())));
    running_ = std::move(event);
    return flush(slices_.get());
  }

  /// How many have stored 1, when `wanted` have or no further one does; 0 if they have ended.
  Result<uint32_t> await(Word word, std::size_t wanted, Clock::duration patience) {
    uint32_t seen = 0;
    for (auto deadline = Clock::now() + patience; seen < wanted && Clock::now() < deadline;) {
      RK_TRY(read,
             enqueue_read(copies_.get(), device_memory_.get(), 0, lines_.data(), lines_bytes()));
      RK_TRY_VOID(flush(copies_.get()));
      if (!ended_within(read.get(), self_test_step_timeout))
        return Error(Errc::backend_unavailable, "self-test: no copy ended beside the work-groups");
      const cl_int status = event_status(running_.get());
      if (status < CL_COMPLETE)
        return Error(Errc::backend_unavailable,
                     "self-test: the work-groups ended with " + status_text(status));
      if (status == CL_COMPLETE) return 0u;
      const auto now = static_cast<uint32_t>(
          std::ranges::count_if(lines_, [word](const auto& line) { return line.*word == 1; }));
      if (now > seen) deadline = Clock::now() + self_test_group_patience;
      seen = std::max(seen, now);
    }
    return seen;
  }

  Result<void> store(std::size_t offset, const rk_u32& word) {
    RK_TRY(written, enqueue_write(copies_.get(), host_memory_.get(), offset, &word, sizeof word));
    return flush(copies_.get());
  }

  Result<uint32_t> count() {
    RK_TRY(started,
           await(&rk_self_test_device_line::started, lines_.size(), self_test_start_timeout));
    RK_TRY_VOID(store(offsetof(rk_self_test_host_line, ping), one_));
    return await(&rk_self_test_device_line::pong, started, self_test_group_patience);
  }

  Result<void> stop() {
    RK_TRY_VOID(store(offsetof(rk_self_test_host_line, stop), one_));
    if (ended_within(running_.get(), self_test_start_timeout)) return {};
    return Error(Errc::backend_unavailable, "self-test: the work-groups did not return");
  }

 private:
  [[nodiscard]] std::size_t lines_bytes() const noexcept {
    return lines_.size() * sizeof(rk_self_test_device_line);
  }

  const Probe& probe_;
  const rk_u32 one_ = 1;
  rk_self_test_host_line host_{};
  std::vector<rk_self_test_device_line> lines_;
  Buffer host_memory_;
  Buffer device_memory_;
  Queue slices_;
  Queue copies_;
  Event running_;
};

Result<uint32_t> count_together(const Probe& probe, cl_kernel kernel, uint32_t work_groups,
                                rk_u32 polls_max) {
  CopiedGroups groups(probe, work_groups, polls_max);
  RK_TRY_VOID(groups.start(kernel));
  Result<uint32_t> together = groups.count();
  RK_TRY_VOID(groups.stop());
  return together;
}

}  // namespace

Result<uint32_t> test_copied_work_groups(const Probe& probe, uint32_t work_groups,
                                         uint64_t polls_per_ms) {
  RK_TRY(built, build_program(probe.context, probe.device, "kernels/self_test.cl", probe.options,
                              probe.cache));
  RK_TRY(kernel, make_kernel(built.program.get(), "rk_self_test"));
  const auto polls_max = static_cast<rk_u32>(std::min<uint64_t>(
      polls_per_ms * static_cast<uint64_t>(self_test_kernel_time / 1ms), UINT32_MAX));
  while (work_groups > 1) {
    RK_TRY(together, count_together(probe, kernel.get(), work_groups, polls_max));
    if (together == work_groups) break;
    work_groups = std::max(together, 1u);
  }
  return work_groups;
}

}  // namespace ringkernel::opencl
