#include "inventory.hpp"

#include <sstream>

#include "backend/registry.hpp"
#include "ringkernel/mlir.hpp"

namespace rkinfo {

namespace {

/// Enough for a self-test; nothing runs in it.
constexpr uint64_t arena_bytes = 1 << 16;

void open_device(const ringkernel::backend::Backend& backend, DeviceInfo& info) {
  auto device = backend.open(info.number, {.struct_bytes = 0,
                                           .executors_max = 1,
                                           .arena_bytes = arena_bytes,
                                           .transfer = RK_TRANSFER_NONE,
                                           .work_groups = info.description.work_groups_max,
                                           .test_anew = 1,
                                           .driver_timeout_ns = 0,
                                           .end_timeout_ns = 0});
  if (!device.has_value()) {
    info.failure = device.error().text();
    return;
  }
  const auto state = device->state();
  if (!state.has_value()) {
    info.failure = state.error().text();
    return;
  }
  info.opened = true;
  info.state = *state;
}

BackendInfo inspect(const ringkernel::backend::Backend& backend, bool self_test) {
  BackendInfo info;
  info.name = backend.name();
  info.description = backend.description();
  info.score = backend.score();
  if (const auto report = backend.report(); report.has_value()) info.failures = *report;
  const auto count = backend.device_count();
  if (!count.has_value()) {
    info.failures.push_back(count.error().text());
    return info;
  }
  for (uint32_t number = 0; number < *count; ++number) {
    const auto description = backend.describe(number);
    if (!description.has_value()) {
      info.failures.push_back(description.error().text());
      continue;
    }
    DeviceInfo& device = info.devices.emplace_back();
    device.number = number;
    device.description = *description;
    if (self_test) open_device(backend, device);
  }
  return info;
}

MlirInfo look_for_mlir() {
  const auto found = ringkernel::mlir::find_library();
  if (!found.has_value()) return {.failure = found.error().text()};
  return {.version = std::to_string(found->major) + "." + std::to_string(found->minor) + "." +
                     std::to_string(found->patch),
          .path = found->path};
}

}  // namespace

Inventory take_inventory(bool self_test) {
  Inventory inventory;
  std::vector<std::string> refused;
  for (const auto& backend : ringkernel::backend::all_backends(refused))
    inventory.backends.push_back(inspect(backend, self_test));
  if (!refused.empty())
    inventory.backends.push_back(
        {"plugins", "in $RINGKERNEL_BACKEND_PATH, refused", 0, {}, refused});
  inventory.mlir = look_for_mlir();
  return inventory;
}

const char* kind_name(uint32_t kind) noexcept {
  switch (kind) {
    case RK_DEVICE_KIND_CPU: return "cpu";
    case RK_DEVICE_KIND_GPU: return "gpu";
    default: return "other";
  }
}

const char* transfer_name(uint32_t transfer) noexcept {
  return ringkernel::backend::transfer_name(transfer);
}

std::vector<std::pair<std::string, std::string>> capabilities(const rk_device_description& device) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::istringstream lines(device.capabilities);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos)
      pairs.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  return pairs;
}

}  // namespace rkinfo
