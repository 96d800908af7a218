/// A device that works on the host's memory, at a backend: the slices are the backend's own.
///
/// Threading: any thread.
/// Ownership: borrows the backend's executor.
#pragma once

#include <chrono>
#include <cstdint>

#include "backend/backend.hpp"
#include "bridge/executor/slice_port.hpp"

namespace ringkernel {

class DirectPort : public bridge::SlicePort {
 public:
  DirectPort(backend::OpenExecutor& executor, std::uint32_t work_groups) noexcept
      : executor_(executor), runs_on_caller_(executor.can_run() && work_groups == 1) {}

  [[nodiscard]] Result<void> launch(std::uint32_t slice) override {
    return executor_.launch(slice);
  }
  [[nodiscard]] bool run(std::uint32_t slice) override {
    return executor_.can_run() && executor_.run(slice);
  }
  [[nodiscard]] bool runs_on_caller() const noexcept override { return runs_on_caller_; }
  [[nodiscard]] Result<void> wait(std::uint64_t timeout_ns) override {
    return executor_.wait(std::chrono::nanoseconds(timeout_ns));
  }
  [[nodiscard]] Result<void> error() override { return executor_.error(); }

 private:
  backend::OpenExecutor& executor_;
  const bool runs_on_caller_;
};

}  // namespace ringkernel
