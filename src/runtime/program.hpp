/// A program as it runs on the device: its executor at the backend, its region in the arena, and
/// the bridge's end of it.
///
/// Threading: any thread once `open` has returned.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.hpp"
#include "bridge/clock.hpp"
#include "bridge/executor.hpp"
#include "runtime/arena.hpp"

namespace ringkernel {

class Program final : public bridge::SlicePort {
 public:
  /// Builds the program and measures how long an idle poll takes, so that `park_after` means time.
  [[nodiscard]] static Result<std::unique_ptr<Program>> open(backend::Device& device, Arena& arena,
                                                             const std::string& name,
                                                             const bridge::ExecutorLimits& limits,
                                                             std::chrono::nanoseconds park_after,
                                                             const bridge::Clock& clock);

  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] bridge::Executor& executor() noexcept { return *executor_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Where its region begins; it goes back to the arena when the program is gone.
  [[nodiscard]] std::uint64_t region_offset() const noexcept { return region_offset_; }
  /// Whether its messages are ops (FlatBuffers requests) or plain bytes.
  [[nodiscard]] bool takes_ops() const noexcept { return takes_ops_; }

  Result<void> launch(std::uint32_t slice) override { return port_->launch(slice); }
  bool run(std::uint32_t slice) override { return port_->can_run() && port_->run(slice); }
  bool runs_on_caller() const noexcept override { return port_->can_run(); }
  Result<void> wait(std::uint64_t timeout_ns) override {
    return port_->wait(std::chrono::nanoseconds(timeout_ns));
  }
  Result<void> error() override { return port_->error(); }

 private:
  Program(std::string name, std::uint64_t region_offset)
      : name_(std::move(name)), takes_ops_(name_ == "core"), region_offset_(region_offset) {}

  /// Nanoseconds of one idle poll of a resident slice.
  [[nodiscard]] Result<double> measure_poll_ns(const bridge::Clock& clock);

  const std::string name_;
  const bool takes_ops_;
  const std::uint64_t region_offset_;
  std::optional<backend::Executor> port_;
  std::optional<bridge::Executor> executor_;
};

}  // namespace ringkernel
