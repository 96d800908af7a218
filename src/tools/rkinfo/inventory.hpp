/// What rkinfo finds out, before anybody decides how to print it.
///
/// Threading: one thread.
/// Errors: what fails becomes a text in the inventory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ringkernel/backend_abi.h"

namespace rkinfo {

struct DeviceInfo {
  uint32_t number = 0;
  rk_device_description description{};
  bool opened = false;      ///< the device was opened and its self-test passed
  rk_device_state state{};  ///< if opened
  std::string failure;      ///< why it was not opened
};

struct BackendInfo {
  std::string name;
  std::string description;
  int32_t score = 0;
  std::vector<DeviceInfo> devices;
  std::vector<std::string> failures;  ///< libraries, drivers and platforms that would not do
};

/// The library that models in MLIR would be read by.
struct MlirInfo {
  std::string version{};  ///< "22.1.8"; empty if there is none
  std::string path{};
  std::string failure{};  ///< why there is none
};

struct Inventory {
  std::vector<BackendInfo> backends;
  MlirInfo mlir;
};

/// Asks every backend for its devices; with `self_test`, opens each one.
Inventory take_inventory(bool self_test);

std::string render_text(const Inventory& inventory);
std::string render_json(const Inventory& inventory);

/// "cpu", "gpu" or "other".
const char* kind_name(uint32_t kind) noexcept;

/// The transfer strategy in use or nominated: "zero_copy" or "none".
const char* transfer_name(uint32_t transfer) noexcept;

/// The capability lines of a description as (key, value).
std::vector<std::pair<std::string, std::string>> capabilities(const rk_device_description& device);

}  // namespace rkinfo
