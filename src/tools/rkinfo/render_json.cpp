#include <boost/json/src.hpp>

#include "inventory.hpp"

namespace rkinfo {

namespace {

namespace json = boost::json;

json::object to_json(const DeviceInfo& device) {
  const rk_device_description& claims = device.description;
  json::object can;
  for (const auto& [key, value] : capabilities(claims)) can[key] = value;
  json::object object{
      {"number", device.number},
      {"name", claims.name},
      {"platform", claims.platform},
      {"driver", claims.driver},
      {"version", claims.version},
      {"kind", kind_name(claims.kind)},
      {"compute_units", claims.compute_units},
      {"work_groups_max", claims.work_groups_max},
      {"work_items_max", claims.work_items_max},
      {"memory_bytes", claims.memory_bytes},
      {"allocation_bytes_max", claims.allocation_bytes_max},
      {"capabilities", std::move(can)},
      {"transfer_nominated", transfer_name(claims.transfer)},
      {"reason", claims.reason},
  };
  if (device.opened) {
    object["transfer"] = transfer_name(device.state.transfer);
    object["work_groups"] = device.state.work_groups;
    object["self_test"] = device.state.self_test;
    object["steps_down"] = device.state.steps_down;
    object["polls_per_ms"] = device.state.polls_per_ms;
  }
  if (!device.failure.empty()) object["failure"] = device.failure;
  return object;
}

}  // namespace

std::string render_json(const Inventory& inventory) {
  json::array list;
  for (const BackendInfo& backend : inventory.backends) {
    json::array devices;
    for (const DeviceInfo& device : backend.devices) devices.push_back(to_json(device));
    json::array failures;
    for (const std::string& failure : backend.failures) failures.emplace_back(failure);
    list.push_back(json::object{
        {"name", backend.name},
        {"description", backend.description},
        {"score", backend.score},
        {"devices", std::move(devices)},
        {"failures", std::move(failures)},
    });
  }
  const MlirInfo& mlir = inventory.mlir;
  json::object of_mlir{{"failure", mlir.failure}};
  if (mlir.failure.empty()) of_mlir = {{"version", mlir.version}, {"path", mlir.path}};
  return json::serialize(
             json::object{{"backends", std::move(list)}, {"mlir", std::move(of_mlir)}}) +
         "\n";
}

}  // namespace rkinfo
