/// A device with memory of its own, as the copy agent sees it: copies in one order, and slices. The
/// runtime implements it with a backend.
///
/// Threading: any thread.
/// Errors: Errc::allocation_failure: nothing has happened, and it may be tried again. Any other
/// means that the executor is lost.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ringkernel/backend_abi.h"
#include "ringkernel/result.hpp"

namespace ringkernel::bridge {

class DevicePort {
 public:
  virtual ~DevicePort() = default;

  /// Starts copies, at least one, behind those started before. Returns the ticket of the last.
  [[nodiscard]] virtual Result<std::uint64_t> start_copies(std::span<const rk_copy> copies) = 0;

  /// Whether the copies up to that ticket ended within `timeout_ns`.
  [[nodiscard]] virtual Result<bool> copies_ended(std::uint64_t ticket,
                                                  std::uint64_t timeout_ns) = 0;

  /// Starts slice `slice` behind those started before; does not wait. False: not at the moment.
  [[nodiscard]] virtual Result<bool> launch_on_device(std::uint32_t slice) = 0;

  /// Whether every slice that was launched returned within `timeout_ns`.
  [[nodiscard]] virtual Result<bool> slices_returned(std::uint64_t timeout_ns) = 0;

  /// Whether a slice ended that did not end by itself. Cheap.
  [[nodiscard]] virtual Result<void> error() { return {}; }

  /// What keeps the device from answering, if that is known: ": ", and why; else "".
  [[nodiscard]] virtual std::string why_late() { return {}; }
};

}  // namespace ringkernel::bridge
