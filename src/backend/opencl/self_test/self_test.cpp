#include "backend/opencl/self_test/self_test.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <span>
#include <thread>

#include "backend/opencl/memory.hpp"
#include "backend/opencl/program.hpp"
#include "backend/opencl/self_test/self_test_limits.hpp"
#include "backend/opencl/self_test/self_test_payload.hpp"
#include "kernels/self_test.h"

namespace ringkernel::opencl {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// The kernel ends by itself after this many polls: about eight seconds of a CPU's time, so longer
/// than `self_test_step_timeout`, and finite.
constexpr rk_u32 shared_polls_max = 4'000'000'000u;

/// The host's lines come first, the work-groups' behind them.
constexpr std::size_t host_bytes = sizeof(rk_self_test_host_line);
constexpr std::size_t device_bytes = sizeof(rk_self_test_device_line);

Result<void> set_arguments(cl_kernel kernel, const SharedMemory& memory) {
  reinterpret_cast<rk_self_test_host_line*>(memory.data())->polls_max = shared_polls_max;
  RK_TRY_VOID(
      check("clSetKernelArgSVMPointer", cl().clSetKernelArgSVMPointer(kernel, 0, memory.data())));
  return check("clSetKernelArgSVMPointer",
               cl().clSetKernelArgSVMPointer(kernel, 1, memory.data() + host_bytes));
}

/// Waits until `condition` holds. False after `timeout`.
template <class Condition>
bool wait_for(Condition condition, Clock::duration timeout) {
  const auto deadline = Clock::now() + timeout;
  for (unsigned turn = 1; !condition(); ++turn) {
    if (turn % 64 != 0) continue;
    if (Clock::now() > deadline) return condition();
    std::this_thread::yield();
  }
  return true;
}

/// The host's half of kernels/self_test.cl.
class SelfTest {
 public:
  SelfTest(std::byte* memory, cl_event running)
      : host_(*reinterpret_cast<rk_self_test_host_line*>(memory)),
        device_(*reinterpret_cast<rk_self_test_device_line*>(memory + host_bytes)),
        running_(running) {}

  static Error failure(std::string what) {
    return {Errc::backend_unavailable, "self-test: " + std::move(what)};
  }

  Result<SelfTestFigures> run() {
    // acquire: nothing else is read yet; pairs with the release of `started` in rk_self_test
    wait_for([&] { return load(device_.started) != 0 || ended(); }, self_test_start_timeout);
    if (load(device_.started) == 0)
      return failure("the probe kernel did not start: " + state_text());
    SelfTestFigures figures;
    std::array<uint64_t, self_test_pings> durations_ns;
    for (rk_u32 number = 1; number <= self_test_pings; ++number) {
      const auto begin = Clock::now();
      RK_TRY_VOID(ping(number));
      durations_ns[number - 1] = static_cast<uint64_t>((Clock::now() - begin) / 1ns);
    }
    std::ranges::nth_element(durations_ns, durations_ns.begin() + self_test_pings / 2);
    figures.ping_p50_ns = durations_ns[self_test_pings / 2];
    RK_TRY(polls, polls_per_ms());
    figures.polls_per_ms = polls;
    if (ended())  // not "is not CL_RUNNING": NVIDIA's driver says CL_SUBMITTED until the end
      return failure("the probe kernel answered, but: " + state_text());
    return figures;
  }

  /// Asks the kernel to return and waits for it.
  Result<void> stop() {
    // relaxed: the word stands alone
    std::atomic_ref(host_.stop).store(1, std::memory_order_relaxed);
    if (!wait_for([&] { return ended(); }, self_test_start_timeout))
      return failure("the probe kernel did not return");
    if (event_status(running_) != CL_COMPLETE)
      return failure("the probe kernel failed: " + state_text());
    if (load(device_.stopped) != RK_SELF_TEST_STOPPED)
      return failure("the probe kernel did not see the stop word");
    return {};
  }

 private:
  template <class Word>
  static Word load(Word& word) {
    return std::atomic_ref(word).load(std::memory_order_acquire);
  }

  [[nodiscard]] bool ended() const { return event_status(running_) <= CL_COMPLETE; }

  /// What the driver says of the probe kernel.
  [[nodiscard]] std::string state_text() const {
    switch (const cl_int status = event_status(running_); status) {
      case CL_QUEUED: return "its event is CL_QUEUED";
      case CL_SUBMITTED: return "its event is CL_SUBMITTED";
      case CL_RUNNING: return "its event is CL_RUNNING";
      case CL_COMPLETE: return "its event is CL_COMPLETE";
      default: return "its event ended with " + status_text(status);
    }
  }

  Result<void> ping(rk_u32 number) {
    fill_payload(host_.payload, number);
    // release: behind the payload; pairs with the acquire of the ping in rk_self_test
    std::atomic_ref(host_.ping[0]).store(number, std::memory_order_release);
    // acquire: the answer's payload; pairs with the release of `pong` in rk_self_test
    wait_for([&] { return load(device_.pong) == number || ended(); }, self_test_step_timeout);
    if (load(device_.pong) != number)
      return failure("ping " + std::to_string(number) + " of " + std::to_string(self_test_pings) +
                     " was not answered: " + state_text());
    if (std::string fault = fault_of_answer(device_.payload, number); !fault.empty())
      return failure(std::move(fault));
    return {};
  }

  /// The best of several windows: the others were disturbed.
  Result<uint64_t> polls_per_ms() {
    constexpr int windows = 3;
    constexpr rk_u64 window_polls = 1u << 18;
    uint64_t best = 0;
    for (int window = 0; window < windows; ++window) {
      const rk_u64 first = load(device_.polls);
      const auto begin = Clock::now();
      if (!wait_for([&] { return load(device_.polls) - first >= window_polls; },
                    self_test_step_timeout))
        return failure("the probe kernel's poll count does not move");
      const auto duration_ns = static_cast<uint64_t>((Clock::now() - begin) / 1ns);
      best = std::max(
          best, (load(device_.polls) - first) * 1'000'000 / std::max(duration_ns, uint64_t{1}));
    }
    return best;
  }

  rk_self_test_host_line& host_;
  rk_self_test_device_line& device_;
  cl_event running_;
};

}  // namespace

Result<SelfTestFigures> test_zero_copy(const Probe& probe) {
  RK_TRY(built, build_program(probe.context, probe.device, "kernels/self_test.cl", probe.options,
                              probe.cache));
  RK_TRY(kernel, make_kernel(built.program.get(), "rk_self_test"));
  RK_TRY(queue, make_queue(probe.context, probe.device));
  RK_TRY(memory, SharedMemory::allocate(probe.context, host_bytes + device_bytes));
  RK_TRY_VOID(set_arguments(kernel.get(), memory));
  RK_TRY(event, enqueue_one(queue.get(), kernel.get()));
  SelfTest test(memory.data(), event.get());
  const Result<void> flushed = flush(queue.get());
  Result<SelfTestFigures> figures =
      flushed.has_value() ? test.run() : Result<SelfTestFigures>(flushed.error());
  const Result<void> stopped = test.stop();
  if (event_status(event.get()) > CL_COMPLETE) memory.abandon();
  if (figures.has_value() && !stopped.has_value()) return stopped.error();
  probe.cache.store(built);
  return figures;
}

namespace {

/// Launches the probe kernel with `work_groups` and counts those that answer while all run.
Result<uint32_t> count_together(const Probe& probe, cl_kernel kernel, uint32_t work_groups) {
  RK_TRY(queue, make_queue(probe.context, probe.device));
  RK_TRY(memory, SharedMemory::allocate(probe.context,
                                        host_bytes + std::size_t{work_groups} * device_bytes));
  auto& host = *reinterpret_cast<rk_self_test_host_line*>(memory.data());
  const std::span devices(reinterpret_cast<rk_self_test_device_line*>(memory.data() + host_bytes),
                          work_groups);
  RK_TRY_VOID(set_arguments(kernel, memory));
  RK_TRY(event, enqueue_groups(queue.get(), kernel, work_groups));
  const Result<void> flushed = flush(queue.get());
  const auto ended = [&] { return event_status(event.get()) <= CL_COMPLETE; };
  const auto count = [&](rk_u32 rk_self_test_device_line::*word) {
    // acquire: nothing else is read; pairs with the releases in rk_self_test
    return static_cast<uint32_t>(std::ranges::count_if(devices, [word](auto& line) {
      return std::atomic_ref(line.*word).load(std::memory_order_acquire) == 1;
    }));
  };
  // How many have stored 1, when `wanted` have or no further one does.
  const auto await = [&](rk_u32 rk_self_test_device_line::*word, uint32_t wanted,
                         Clock::duration patience) {
    uint32_t seen = 0;
    for (; flushed && seen < wanted; patience = self_test_group_patience) {
      if (!wait_for([&] { return count(word) > seen || ended(); }, patience)) break;
      if (ended()) return 0u;
      seen = count(word);
    }
    return seen;
  };
  const uint32_t started =
      await(&rk_self_test_device_line::started, work_groups, self_test_start_timeout);
  // relaxed: there is no payload
  std::atomic_ref(host.ping[0]).store(1, std::memory_order_relaxed);
  const uint32_t together =
      await(&rk_self_test_device_line::pong, started, self_test_group_patience);
  // relaxed: the word stands alone
  std::atomic_ref(host.stop).store(1, std::memory_order_relaxed);
  if (!wait_for(ended, self_test_step_timeout)) {
    memory.abandon();
    return Error(Errc::backend_unavailable, "self-test: the work-groups did not return");
  }
  RK_TRY_VOID(flushed);
  return together;
}

}  // namespace

Result<uint32_t> test_work_groups(const Probe& probe, uint32_t work_groups) {
  RK_TRY(built, build_program(probe.context, probe.device, "kernels/self_test.cl", probe.options,
                              probe.cache));
  RK_TRY(kernel, make_kernel(built.program.get(), "rk_self_test"));
  while (work_groups > 1) {
    RK_TRY(together, count_together(probe, kernel.get(), work_groups));
    if (together == work_groups) break;
    work_groups = std::max(together, 1u);
  }
  return work_groups;
}

}  // namespace ringkernel::opencl
