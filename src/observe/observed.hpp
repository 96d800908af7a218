/// What the counters file shows, as the publisher asks for it: a runtime and its ring kernels.
///
/// Threading: any thread. Nobody waits for a program that is being built.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foundation/histogram.hpp"
#include "foundation/trace_log.hpp"
#include "observe/error_log.hpp"
#include "ringkernel/result.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel::detail {

/// What changes with the metrics of a ring kernel, except that the device may be at work on what is
/// unanswered.
struct KernelActivity {
  std::uint64_t events = 0;
  std::uint64_t unanswered = 0;
  std::uint32_t in_flight = 0;
  KernelStatus status = KernelStatus::created;
  std::uint32_t version = 0;
  // The executor's and the copy agent's metrics of KernelMetrics, which change without an event.
  std::uint64_t slices = 0;
  std::uint64_t parks = 0;
  std::uint64_t wake_ups = 0;
  std::uint64_t copies = 0;
  std::uint64_t copied_bytes = 0;
  bool operator==(const KernelActivity&) const = default;
};

class ObservedKernel {
 public:
  /// Cheap: asks no device.
  [[nodiscard]] virtual KernelActivity activity() const = 0;
  /// Of a kernel that failed: tells it to those who listen, once.
  virtual void tell_failure() = 0;
  [[nodiscard]] virtual KernelMetrics metrics() const = 0;
  /// The oldest that are under way, `count` at most.
  [[nodiscard]] virtual std::vector<CallInFlight> calls(std::size_t count) const = 0;
  /// Makes `latency` what it is at this moment; leaves it alone if no times are taken.
  virtual void copy_latency(Histogram& latency) const = 0;
  /// Waits for the device, for `timeout` at most: busy.
  [[nodiscard]] virtual Result<std::string> state_json(std::chrono::nanoseconds timeout) = 0;

 protected:
  ~ObservedKernel() = default;
};

class ObservedRuntime {
 public:
  /// Nothing: a program is being built.
  [[nodiscard]] virtual std::optional<RuntimeMetrics> try_metrics() const = 0;
  [[nodiscard]] virtual std::vector<std::shared_ptr<ObservedKernel>> observed_kernels() const = 0;
  /// Everything that was traced and not taken yet, with slices that ended.
  virtual void take_trace(std::vector<TraceEvent>& events) = 0;
  [[nodiscard]] virtual std::uint64_t trace_missed() const noexcept = 0;
  [[nodiscard]] virtual const ErrorLog& errors() const noexcept = 0;

 protected:
  ~ObservedRuntime() = default;
};

}  // namespace ringkernel::detail
