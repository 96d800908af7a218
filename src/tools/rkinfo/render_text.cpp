#include <fmt/format.h>

#include <iterator>
#include <sstream>
#include <string_view>

#include "inventory.hpp"

namespace rkinfo {

namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

using Out = std::back_insert_iterator<std::string>;

void render_transfer(Out out, const DeviceInfo& device) {
  const rk_device_description& claims = device.description;
  if (device.opened) {
    const std::string_view steps_down = device.state.steps_down;
    fmt::format_to(out, "    {:<24}{}{}\n", "transfer", transfer_name(device.state.transfer),
                   steps_down.empty() ? ", the first choice: no other was tried" : "");
    fmt::format_to(out, "    {:<24}{}\n", "self-test", device.state.self_test);
    std::istringstream lines{std::string(steps_down)};
    for (std::string line; std::getline(lines, line);)
      fmt::format_to(out, "    {:<24}{}\n", "not", line);
  } else if (!device.failure.empty()) {
    fmt::format_to(out, "    {:<24}none: {}\n", "transfer", device.failure);
    return;
  } else {
    fmt::format_to(out, "    {:<24}{} (nominated, not tested)\n", "transfer",
                   transfer_name(claims.transfer));
  }
  if (claims.reason[0] != '\0') fmt::format_to(out, "    {:<24}{}\n", "reason", claims.reason);
}

void render_device(Out out, const DeviceInfo& device) {
  const rk_device_description& claims = device.description;
  fmt::format_to(out, "  device {}: {}\n", device.number, claims.name);
  fmt::format_to(out, "    {:<24}{}\n", "platform", claims.platform);
  fmt::format_to(out, "    {:<24}{}, driver {}\n", "version", claims.version, claims.driver);
  fmt::format_to(out, "    {:<24}{}, {} compute units\n", "kind", kind_name(claims.kind),
                 claims.compute_units);
  fmt::format_to(out, "    {:<24}{} of an executor {}\n", "work-groups",
                 device.opened ? device.state.work_groups : claims.work_groups_max,
                 device.opened ? "run together" : "(claimed, not tested)");
  fmt::format_to(out, "    {:<24}{:.0f} MiB, at most {:.0f} MiB in one allocation\n", "memory",
                 static_cast<double>(claims.memory_bytes) / mebibyte,
                 static_cast<double>(claims.allocation_bytes_max) / mebibyte);
  for (const auto& [key, value] : capabilities(claims))
    fmt::format_to(out, "    {:<24}{}\n", key, value);
  render_transfer(out, device);
}

}  // namespace

std::string render_text(const Inventory& inventory) {
  std::string text;
  const Out out = std::back_inserter(text);
  for (const BackendInfo& backend : inventory.backends) {
    fmt::format_to(out, "backend {} (score {}): {}\n", backend.name, backend.score,
                   backend.description);
    for (const DeviceInfo& device : backend.devices) render_device(out, device);
    for (const std::string& failure : backend.failures)
      fmt::format_to(out, "  failed: {}\n", failure);
  }
  const MlirInfo& mlir = inventory.mlir;
  if (mlir.failure.empty())
    fmt::format_to(out, "MLIR {}: {}\n", mlir.version, mlir.path);
  else
    fmt::format_to(out, "MLIR: none\n  failed: {}\n", mlir.failure);
  return text;
}

}  // namespace rkinfo
