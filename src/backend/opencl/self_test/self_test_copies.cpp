// The self-tests of the strategies that copy: `dma` beside a running kernel, `sliced` before and
// behind one.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "backend/opencl/copy_queue.hpp"
#include "backend/opencl/memory.hpp"
#include "backend/opencl/program.hpp"
#include "backend/opencl/self_test/self_test.hpp"
#include "backend/opencl/self_test/self_test_limits.hpp"
#include "backend/opencl/self_test/self_test_payload.hpp"
#include "kernels/self_test.h"

namespace ringkernel::opencl {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t large_bytes = std::size_t{64} * 1024;

/// How long the host waits for one step: a loaded machine is no reason to refuse a device.
constexpr auto copied_step_timeout = 3s;

constexpr uint64_t polls_most = 4'000'000'000u;

uint64_t since_ns(Clock::time_point begin) {
  return static_cast<uint64_t>((Clock::now() - begin) / 1ns);
}

Error failure(std::string what) {
  return {Errc::backend_unavailable, "self-test: " + std::move(what)};
}

/// The probe kernel with its two structs in the device's memory, and the host's copies of them.
class CopiedProbe {
 public:
  CopiedProbe(CopiedProbe&&) = default;
  CopiedProbe& operator=(CopiedProbe&&) = delete;
  /// Copies refer to this object and its bytes; the kernel ends by itself.
  ~CopiedProbe() {
    for (const Queue* queue : {&copies_, &slices_})
      if (*queue) const Drain drain(queue->get());
  }

  static Result<CopiedProbe> make(const Probe& probe) {
    RK_TRY(built, build_program(probe.context, probe.device, "kernels/self_test.cl", probe.options,
                                probe.cache));
    CopiedProbe made;
    RK_TRY(kernel, make_kernel(built.program.get(), "rk_self_test"));
    RK_TRY(slices, make_queue(probe.context, probe.device));
    RK_TRY(copies, make_queue(probe.context, probe.device));
    RK_TRY(host_line, make_buffer(probe.context, sizeof(rk_self_test_host_line)));
    RK_TRY(device_line, make_buffer(probe.context, sizeof(rk_self_test_device_line)));
    RK_TRY(large, make_buffer(probe.context, large_bytes));
    made.kernel_ = std::move(kernel);
    made.slices_ = std::move(slices);
    made.copies_ = std::move(copies);
    made.host_line_ = std::move(host_line);
    made.device_line_ = std::move(device_line);
    made.large_ = std::move(large);
    RK_TRY_VOID(set_memory_argument(made.kernel_.get(), 0, made.host_line_.get()));
    RK_TRY_VOID(set_memory_argument(made.kernel_.get(), 1, made.device_line_.get()));
    probe.cache.store(built);
    return made;
  }

  /// Runs the kernel for `polls` polls with nobody to talk to. Returns its duration, the part of it
  /// that the launching thread spent inside the driver, and what the kernel left behind.
  struct Run {
    uint64_t total_ns = 0;
    uint64_t in_flush_ns = 0;
  };
  Result<Run> run_alone(rk_u32 polls, rk_u32 ping) {
    sent_ = {};
    sent_.polls_max = polls;
    sent_.ping[0] = ping;
    fill_payload(sent_.payload, ping);
    RK_TRY_VOID(reset(slices_.get()));
    Run run;
    const auto begin = Clock::now();
    RK_TRY(event, enqueue_one(slices_.get(), kernel_.get()));
    RK_TRY_VOID(flush(slices_.get()));
    run.in_flush_ns = since_ns(begin);
    if (!ended_within(event.get(), self_test_start_timeout))
      return failure("the probe kernel did not return");
    run.total_ns = since_ns(begin);
    if (event_status(event.get()) != CL_COMPLETE)
      return failure("the probe kernel ended with " + status_text(event_status(event.get())));
    RK_TRY_VOID(read_line(slices_.get(), self_test_start_timeout));
    return run;
  }

  /// Idle polls per millisecond; an error where the launch runs the kernel to its end, because
  /// nothing takes place beside it then. On a busy machine a run takes longer, never less long: the
  /// fastest tells. What holds up a launch there does not grow with the kernel.
  Result<uint64_t> measure_polls() {
    constexpr uint64_t enough_ns = 5'000'000;          // the launch is a small part of it
    constexpr uint64_t beyond_doubt_ns = 300'000'000;  // nobody else has the processor that long
    constexpr int runs_beside_wanted = 3;
    RK_TRY_VOID(run_alone(1, 0));  // a driver compiles here
    uint64_t polls_per_ms = 1;
    int runs_beside = 0;
    for (rk_u32 polls = 1024; runs_beside < runs_beside_wanted && polls <= 1u << 28; polls *= 2) {
      RK_TRY(run, run_alone(polls, 0));
      polls_per_ms = std::max(polls_per_ms, uint64_t{polls} * 1'000'000 / run.total_ns);
      if (run.total_ns < enough_ns) continue;
      if (run.in_flush_ns <= run.total_ns / 2)
        ++runs_beside;
      else if (runs_beside == 0 && run.total_ns > beyond_doubt_ns)
        return failure("the driver runs a kernel to its end inside the launch");
    }
    return polls_per_ms;
  }

  /// `polls_per_ms`: how many polls make up `self_test_kernel_time`.
  Result<void> start(uint64_t polls_per_ms) {
    sent_ = {};
    sent_.polls_max = static_cast<rk_u32>(std::min<uint64_t>(
        polls_per_ms * static_cast<uint64_t>(self_test_kernel_time / 1ms), polls_most));
    RK_TRY_VOID(reset(slices_.get()));
    begin_ = Clock::now();
    RK_TRY(event, enqueue_one(slices_.get(), kernel_.get()));
    running_ = std::move(event);
    RK_TRY_VOID(flush(slices_.get()));
    const auto deadline = Clock::now() + copied_step_timeout;
    while (line_.started == 0) {
      if (Clock::now() > deadline) return failure("the probe kernel did not start");
      if (event_status(running_.get()) < CL_COMPLETE)
        return failure("the probe kernel ended with " + status_text(event_status(running_.get())));
      RK_TRY_VOID(read_line(copies_.get(), copied_step_timeout));
    }
    return {};
  }

  Result<void> ping(rk_u32 number) {
    sent_.ping[0] = number;
    fill_payload(sent_.payload, number);
    RK_TRY(payload,
           enqueue_write(copies_.get(), host_line_.get(), offsetof(rk_self_test_host_line, payload),
                         sent_.payload, sizeof sent_.payload));
    RK_TRY(bell, write_word(offsetof(rk_self_test_host_line, ping), sent_.ping[0]));
    const auto deadline = Clock::now() + copied_step_timeout;
    do {
      RK_TRY_VOID(read_line(copies_.get(), copied_step_timeout));
      if (line_.pong == number) return check_answer(number);
      if (!runs()) return ended_early();
    } while (Clock::now() < deadline);
    return failure("ping " + std::to_string(number) + " of " + std::to_string(self_test_pings) +
                   " was not answered beside the running kernel");
  }

  Result<void> check_answer(rk_u32 number) const {
    if (line_.pong != number) return failure("the kernel did not see what was copied before it");
    if (std::string fault = fault_of_answer(line_.payload, number); !fault.empty())
      return failure(std::move(fault));
    return {};
  }

  Result<void> copy_large() {
    std::vector<std::byte> sent(large_bytes, std::byte{0x5a});
    std::vector<std::byte> received(large_bytes);
    const Drain drain(copies_.get());
    RK_TRY(there, enqueue_write(copies_.get(), large_.get(), 0, sent.data(), large_bytes));
    RK_TRY(back, enqueue_read(copies_.get(), large_.get(), 0, received.data(), large_bytes));
    RK_TRY_VOID(flush(copies_.get()));
    if (!ended_within(back.get(), copied_step_timeout)) {
      static_cast<void>(stop());  // it may be what the copies wait for
      return failure("a copy of 64 KiB did not end beside the running kernel");
    }
    if (sent != received) return failure("a copy of 64 KiB brought other bytes");
    return {};
  }

  /// NVIDIA's driver calls a kernel that runs CL_SUBMITTED until it has ended.
  [[nodiscard]] bool runs() const { return event_status(running_.get()) > CL_COMPLETE; }

  [[nodiscard]] Error ended_early() const {
    const cl_int status = event_status(running_.get());
    return failure("the probe kernel has ended too early" +
                   (status < CL_COMPLETE ? ", with " + status_text(status) : ""));
  }

  Result<void> stop() {
    sent_.stop = 1;
    RK_TRY(stopped, write_word(offsetof(rk_self_test_host_line, stop), sent_.stop));
    RK_TRY_VOID(flush(copies_.get()));
    if (!ended_within(running_.get(), self_test_start_timeout))
      return failure("the probe kernel did not return");
    ran_ns_ = since_ns(begin_);
    RK_TRY_VOID(finish(stopped));
    RK_TRY_VOID(read_line(copies_.get(), self_test_start_timeout));
    if (line_.stopped != RK_SELF_TEST_STOPPED)
      return failure("the probe kernel did not see the stop word");
    return {};
  }

  /// Behind `stop`: idle polls per millisecond, of a kernel that made all its polls; 0: it was
  /// stopped.
  [[nodiscard]] uint64_t pace() const {
    return line_.stopped == RK_SELF_TEST_EXHAUSTED
               ? uint64_t{sent_.polls_max} * 1'000'000 / std::max<uint64_t>(ran_ns_, 1)
               : 0;
  }

 private:
  CopiedProbe() = default;

  Result<void> reset(cl_command_queue queue) {
    line_ = {};
    RK_TRY(host, enqueue_write(queue, host_line_.get(), 0, &sent_, sizeof sent_));
    RK_TRY(device, enqueue_write(queue, device_line_.get(), 0, &line_, sizeof line_));
    return finish(device);
  }

  Result<Event> write_word(std::size_t offset, const rk_u32& word) {
    return enqueue_write(copies_.get(), host_line_.get(), offset, &word, sizeof word);
  }

  /// The device's lines as of some moment after everything before it in the queue. In order: the
  /// answer's number, then the rest, so that the payload belongs to it.
  Result<void> read_line(cl_command_queue queue, std::chrono::nanoseconds timeout) {
    RK_TRY(number, enqueue_read(queue, device_line_.get(), offsetof(rk_self_test_device_line, pong),
                                &pong_, sizeof pong_));
    RK_TRY(event, enqueue_read(queue, device_line_.get(), 0, &line_, sizeof line_));
    RK_TRY_VOID(flush(queue));
    if (!ended_within(event.get(), timeout)) {
      // It would still be written to: wait for the kernel, which ends by itself.
      static_cast<void>(finish(event));
      return failure("a copy did not end beside the running kernel");
    }
    line_.pong = pong_;
    return {};
  }

  ClKernel kernel_;
  Queue slices_;
  Queue copies_;
  Buffer host_line_;
  Buffer device_line_;
  Buffer large_;
  Event running_;
  Clock::time_point begin_;  // of the kernel that `stop` stops
  uint64_t ran_ns_ = 0;      // that kernel
  rk_self_test_host_line sent_{};
  rk_self_test_device_line line_{};
  rk_u32 pong_ = 0;
};

Result<SelfTestFigures> talk(CopiedProbe& kernel) {
  SelfTestFigures figures;
  std::array<uint64_t, self_test_pings> durations_ns;
  for (rk_u32 number = 1; number <= self_test_pings; ++number) {
    const auto begin = Clock::now();
    RK_TRY_VOID(kernel.ping(number));
    durations_ns[number - 1] = since_ns(begin);
  }
  std::ranges::nth_element(durations_ns, durations_ns.begin() + self_test_pings / 2);
  figures.ping_p50_ns = durations_ns[self_test_pings / 2];
  RK_TRY_VOID(kernel.copy_large());
  // All that was asked for has to come to pass while the kernel runs.
  if (!kernel.runs()) return kernel.ended_early();
  return figures;
}

Result<SelfTestFigures> talk_beside(CopiedProbe& kernel, uint64_t polls_per_ms) {
  const Result<void> started = kernel.start(polls_per_ms);
  Result<SelfTestFigures> figures =
      started.has_value() ? talk(kernel) : Result<SelfTestFigures>(started.error());
  const Result<void> stopped = kernel.stop();
  if (figures.has_value() && !stopped.has_value()) return stopped.error();
  if (figures.has_value()) figures->polls_per_ms = polls_per_ms;
  return figures;
}

}  // namespace

Result<SelfTestFigures> test_dma(const Probe& probe) {
  RK_TRY(kernel, CopiedProbe::make(probe));
  RK_TRY(polls_per_ms, kernel.measure_polls());
  for (;;) {
    Result<SelfTestFigures> figures = talk_beside(kernel, polls_per_ms);
    // Others had the processor while it was measured: the kernel was not there for its time.
    if (figures.has_value() || kernel.pace() < 2 * polls_per_ms) return figures;
    polls_per_ms = kernel.pace();
  }
}

Result<SelfTestFigures> test_sliced(const Probe& probe) {
  RK_TRY(kernel, CopiedProbe::make(probe));
  RK_TRY_VOID(kernel.run_alone(1, 0));  // a driver compiles here
  SelfTestFigures figures;
  const auto begin = Clock::now();
  RK_TRY_VOID(kernel.run_alone(1, 1));
  figures.ping_p50_ns = since_ns(begin);
  RK_TRY_VOID(kernel.check_answer(1));
  return figures;
}

}  // namespace ringkernel::opencl
