/// A device with memory of its own, at a backend: what the copy agent copies with and launches on.
/// Counts the copies.
///
/// Threading: any thread.
/// Memory ordering: its atomics are metrics, and the number of the last copy; they stand alone.
/// Ownership: borrows the backend's executor and the device.
/// Errors: as of a bridge::DevicePort.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "backend/backend.hpp"
#include "bridge/dma/device_port.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel {

/// Which call of the driver lasts, as a wait in vain says it: ": the driver ..."; else "".
[[nodiscard]] std::string driver_call_of(const Result<void>& waited);

class DmaDevice final : public bridge::DevicePort {
 public:
  DmaDevice(backend::OpenExecutor& executor, backend::OpenDevice& device) noexcept
      : executor_(executor), device_(device) {}

  [[nodiscard]] Result<std::uint64_t> start_copies(std::span<const rk_copy> copies) override;
  [[nodiscard]] Result<bool> copies_ended(std::uint64_t ticket, std::uint64_t timeout_ns) override;
  [[nodiscard]] Result<bool> launch_on_device(std::uint32_t slice) override;
  [[nodiscard]] Result<bool> slices_returned(std::uint64_t timeout_ns) override;
  [[nodiscard]] Result<void> error() override { return executor_.error(); }
  [[nodiscard]] std::string why_late() override;

  /// Waits for all that were started. E6007 after `timeout_ns`.
  [[nodiscard]] Result<void> wait_for_copies(std::uint64_t timeout_ns);
  void add_to(RuntimeMetrics& metrics) const noexcept {
    metrics.copies += copies_.load(std::memory_order_relaxed);  // a metric, as is the next
    metrics.copied_bytes += copied_bytes_.load(std::memory_order_relaxed);
  }

 private:
  backend::OpenExecutor& executor_;
  backend::OpenDevice& device_;
  std::atomic<std::uint64_t> copies_{0};
  std::atomic<std::uint64_t> copied_bytes_{0};
  std::atomic<std::uint64_t> last_ticket_{0};  // 0: none was started
};

}  // namespace ringkernel
