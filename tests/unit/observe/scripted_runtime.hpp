/// A runtime and ring kernels that say of themselves what they are told to.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "observe/observed.hpp"
#include "unit/telemetry/sample_metrics.hpp"

namespace ringkernel::testing {

/// A ring kernel that says what it is told to.
class ScriptedKernel final : public detail::ObservedKernel {
 public:
  explicit ScriptedKernel(std::uint64_t number) : said(kernel_of(number)) {
    now.status = KernelStatus::active;
    now.events = number;
  }
  [[nodiscard]] detail::KernelActivity activity() const override { return now; }
  void tell_failure() override { ++failures_told; }
  [[nodiscard]] KernelMetrics metrics() const override {
    ++asked;
    return said;
  }
  [[nodiscard]] std::vector<CallInFlight> calls(std::size_t) const override { return waiting; }
  void copy_latency(Histogram&) const override {}
  [[nodiscard]] Result<std::string> state_json(std::chrono::nanoseconds) override { return state; }

  detail::KernelActivity now;
  KernelMetrics said;
  std::vector<CallInFlight> waiting;
  std::string state = "{}";
  mutable int asked = 0;
  int failures_told = 0;
};

class ScriptedRuntime final : public detail::ObservedRuntime {
 public:
  [[nodiscard]] std::optional<RuntimeMetrics> try_metrics() const override { return said; }
  [[nodiscard]] std::vector<std::shared_ptr<detail::ObservedKernel>> observed_kernels()
      const override {
    return {kernels.begin(), kernels.end()};
  }
  void take_trace(std::vector<TraceEvent>& events) override { events = std::exchange(traced, {}); }
  [[nodiscard]] std::uint64_t trace_missed() const noexcept override { return 0; }
  [[nodiscard]] const detail::ErrorLog& errors() const noexcept override { return log; }

  std::optional<RuntimeMetrics> said = runtime_of(1);
  std::vector<std::shared_ptr<ScriptedKernel>> kernels;
  std::vector<TraceEvent> traced;
  detail::ErrorLog log;
};

}  // namespace ringkernel::testing
