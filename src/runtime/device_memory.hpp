/// The device's memory behind the arena, for what is neither ring nor control block: tensors and
/// what graphs keep. Where the device works on the arena itself, nothing has to be copied.
///
/// Threading: any thread. Calls wait for their copies, beside those of movers.
/// Ownership: owns the device.
/// Errors: Errc::device_error; E6007 where a copy does not end in time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "backend/backend.hpp"
#include "foundation/timeout.hpp"

namespace ringkernel {

class DeviceMemory {
 public:
  /// `arena`: the host's; `transfer`: RK_TRANSFER_*; `patience`: with a copy.
  DeviceMemory(backend::Device device, std::byte* arena, std::uint32_t transfer,
               std::chrono::nanoseconds patience) noexcept
      : device_(std::move(device)),
        arena_(arena),
        transfer_(transfer),
        patience_ns_(bounded_ns(patience)) {}

  [[nodiscard]] backend::Device& device() noexcept { return device_; }
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

 private:
  Result<void> copy(std::uint32_t direction, std::uint64_t offset, std::uint64_t bytes,
                    std::uint64_t patience_ns) {
    if (is_shared() || bytes == 0) return {};
    const rk_copy copy{direction, 0, offset, bytes, arena_ + offset, 0};
    RK_TRY(ticket, device_.start_copies({&copy, 1}));
    return device_.wait_for_copies(ticket, patience_ns);
  }

  backend::Device device_;
  std::byte* const arena_;
  const std::uint32_t transfer_;
  const std::uint64_t patience_ns_;
};

}  // namespace ringkernel
