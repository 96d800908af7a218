/// The device's memory behind the arena, for what is neither ring nor control block: tensors and
/// what graphs keep. Where the device works on the arena itself, nothing has to be copied.
///
/// Threading: any thread. Calls wait for their copies, beside those of movers.
/// Ownership: owns the device.
/// Errors: Errc::device_error; E6007 where a copy does not end within a minute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "backend/backend.hpp"

namespace ringkernel {

class DeviceMemory {
 public:
  /// `arena`: the host's; `transfer`: RK_TRANSFER_*.
  DeviceMemory(backend::Device device, std::byte* arena, std::uint32_t transfer) noexcept
      : device_(std::move(device)), arena_(arena), transfer_(transfer) {}

  [[nodiscard]] backend::Device& device() noexcept { return device_; }
  [[nodiscard]] std::uint32_t transfer() const noexcept { return transfer_; }
  [[nodiscard]] bool is_shared() const noexcept { return transfer_ == RK_TRANSFER_ZERO_COPY; }

  /// Lets the device see what the host wrote there.
  Result<void> to_device(std::uint64_t offset, std::uint64_t bytes) {
    return copy(RK_COPY_TO_DEVICE, offset, bytes);
  }
  /// Lets the host see what the device wrote there.
  Result<void> to_host(std::uint64_t offset, std::uint64_t bytes) {
    return copy(RK_COPY_TO_HOST, offset, bytes);
  }

 private:
  Result<void> copy(std::uint32_t direction, std::uint64_t offset, std::uint64_t bytes) {
    if (is_shared() || bytes == 0) return {};
    constexpr std::uint64_t patience_ns = 60'000'000'000;
    const rk_copy copy{direction, 0, offset, bytes, arena_ + offset, 0};
    RK_TRY(ticket, device_.start_copies({&copy, 1}));
    return device_.wait_for_copies(ticket, patience_ns);
  }

  backend::Device device_;
  std::byte* const arena_;
  const std::uint32_t transfer_;
};

}  // namespace ringkernel
