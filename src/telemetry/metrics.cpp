#include "ringkernel/telemetry.hpp"

namespace ringkernel {

const char* name(KernelStatus status) noexcept {
  switch (status) {
    case KernelStatus::created: return "created";
    case KernelStatus::launched: return "launched";
    case KernelStatus::active: return "active";
    case KernelStatus::deactivated: return "deactivated";
    case KernelStatus::terminating: return "terminating";
    case KernelStatus::terminated: return "terminated";
    case KernelStatus::failed: return "failed";
  }
  return "unknown";
}

}  // namespace ringkernel
