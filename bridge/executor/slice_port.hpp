/// The device as the bridge sees it: somebody who runs slices of one executor over the arena. The
/// runtime implements it with a backend; tests implement it with a simulated device.
///
/// Threading: any thread.
/// Errors: an error of `launch` or `error` means that the executor is lost.
#pragma once

#include <cstdint>

#include "ringkernel/result.hpp"

namespace ringkernel::bridge {

class SlicePort {
 public:
  virtual ~SlicePort() = default;

  /// Starts slice `slice` behind those started before; does not wait.
  [[nodiscard]] virtual Result<void> launch(std::uint32_t slice) = 0;

  /// Runs slice `slice` on this thread until it parks. False if the device cannot do that at the
  /// moment; nothing has happened then.
  [[nodiscard]] virtual bool run(std::uint32_t slice) = 0;

  /// Whether `run` can ever succeed.
  [[nodiscard]] virtual bool runs_on_caller() const noexcept = 0;

  /// Waits until every launched slice has returned. E6007 after `timeout_ns`.
  [[nodiscard]] virtual Result<void> wait(std::uint64_t timeout_ns) = 0;

  /// Whether a slice ended that did not end by itself. Cheap.
  [[nodiscard]] virtual Result<void> error() = 0;

  /// Brings the device's counters of a kernel into the host's arena, where that is another memory.
  virtual void refresh_telemetry(std::uint32_t kernel) { static_cast<void>(kernel); }
};

}  // namespace ringkernel::bridge
