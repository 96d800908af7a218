/// The device's memory behind the arena, for what is neither ring nor control block: tensors and
/// what graphs keep. Where the device works on the arena itself, nothing has to be copied.
///
/// Threading: any thread. Calls wait for their copies, beside those of copy agents.
/// Memory ordering: the atomic is a number, and stands alone.
/// Ownership: owns the device.
/// Errors: Errc::device_error; E6007 where a copy does not end in time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "backend/backend.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/timeout.hpp"

namespace ringkernel {

class DeviceMemory {
 public:
  /// `arena`: the host's; `transfer`: RK_TRANSFER_*; `patience`: with a copy.
  DeviceMemory(backend::OpenDevice device, std::byte* arena, std::uint32_t transfer,
               std::chrono::nanoseconds patience) noexcept
      : device_(std::move(device)),
        arena_(arena),
        transfer_(transfer),
        patience_ns_(bounded_ns(patience)) {}

  [[nodiscard]] backend::OpenDevice& device() noexcept { return device_; }
  [[nodiscard]] std::uint32_t transfer() const noexcept { return transfer_; }
  [[nodiscard]] bool is_shared() const noexcept { return transfer_ == RK_TRANSFER_ZERO_COPY; }

  /// Lets the device see what the host wrote there.
  Result<void> to_device(std::uint64_t offset, std::uint64_t bytes) {
    return copy(RK_COPY_TO_DEVICE, offset, bytes, patience_ns_);
  }
  /// Lets the host see what the device wrote there.
  Result<void> to_host(std::uint64_t offset, std::uint64_t bytes) {
    return copy(RK_COPY_TO_HOST, offset, bytes, patience_ns_);
  }
  /// The same for those with a lock that somebody with a deadline needs.
  Result<void> to_device(std::uint64_t offset, std::uint64_t bytes,
                         std::chrono::nanoseconds patience) {
    return copy(RK_COPY_TO_DEVICE, offset, bytes, std::min(bounded_ns(patience), patience_ns_));
  }
  Result<void> to_host(std::uint64_t offset, std::uint64_t bytes,
                       std::chrono::nanoseconds patience) {
    return copy(RK_COPY_TO_HOST, offset, bytes, std::min(bounded_ns(patience), patience_ns_));
  }

  /// E6007 where one may: it would bring back what is written now.
  [[nodiscard]] Result<void> check_no_late_copies() {
    if (!has_late_copies()) return {};
    return Error(Errc::execution_timeout, "a copy between host and device has not ended");
  }
  /// Whether a copy that somebody has waited for in vain may still go on.
  [[nodiscard]] bool has_late_copies() noexcept {
    const std::uint64_t late = late_ticket_.load(std::memory_order_relaxed);
    if (late == 0) return false;
    if (may_go_on(or_no_memory([&] { return device_.wait_for_copies(late, 0); }))) return true;
    std::uint64_t same = late;  // one that came meanwhile stays
    late_ticket_.compare_exchange_strong(same, 0, std::memory_order_relaxed);
    return false;
  }

 private:
  /// Of a copy that was waited for. One that has failed has ended.
  static bool may_go_on(const Result<void>& waited) {
    return !waited && waited.error() != Errc::device_error;
  }

  Result<void> copy(std::uint32_t direction, std::uint64_t offset, std::uint64_t bytes,
                    std::uint64_t patience_ns) {
    if (is_shared() || bytes == 0) return {};
    const rk_copy copy{direction, 0, offset, bytes, arena_ + offset, 0};
    RK_TRY(ticket, device_.start_copies({&copy, 1}));
    Result<void> ended = device_.wait_for_copies(ticket, patience_ns);
    if (may_go_on(ended)) {
      std::uint64_t late = late_ticket_.load(std::memory_order_relaxed);
      while (late < ticket &&
             !late_ticket_.compare_exchange_weak(late, ticket, std::memory_order_relaxed)) {
      }
    }
    return ended;
  }

  backend::OpenDevice device_;
  std::byte* const arena_;
  const std::uint32_t transfer_;
  const std::uint64_t patience_ns_;
  std::atomic<std::uint64_t> late_ticket_{0};  // of the last copy that was late; 0: none
};

}  // namespace ringkernel
