// rkinfo: what can run ring kernels on this machine, how, and what would not do; and which MLIR
// reads models.
// Exit code 0 if some device is usable, 1 if none is.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "inventory.hpp"

namespace {

bool usable(const rkinfo::BackendInfo& backend) {
  return backend.score > 0 &&
         std::ranges::any_of(backend.devices, [](const rkinfo::DeviceInfo& device) {
           return device.failure.empty() && device.description.transfer != RK_TRANSFER_NONE;
         });
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app("Lists backends and devices, what each can do, and how messages would reach it");
  bool as_json = false;
  bool skip_self_test = false;
  app.add_flag("--json", as_json, "Print JSON");
  app.add_flag("--no-self-test", skip_self_test, "Only ask the devices, open none");
  CLI11_PARSE(app, argument_count, arguments);

  const rkinfo::Inventory inventory = rkinfo::take_inventory(!skip_self_test);
  fmt::print("{}", as_json ? rkinfo::render_json(inventory) : rkinfo::render_text(inventory));
  return std::ranges::any_of(inventory.backends, usable) ? 0 : 1;
}
