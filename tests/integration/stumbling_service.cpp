// Works on a device whose calls fail as fault_layer.cpp is told, for device_faults_test.cpp.
//   passing PLAN   launches a kernel and calls it, each time with a slice of its own, while faults
//   of that plan come and pass lasting        calls until the device takes no more slices, then the
//   way back
// Prints what happened.
#include <chrono>
#include <cstdio>
#include <string_view>

#include "ringkernel/ringkernel.hpp"
#include "support/backends.hpp"
#include "support/device_faults.hpp"

namespace {

using namespace ringkernel;
using namespace ringkernel::test;
using namespace std::chrono_literals;

constexpr auto patience = 20s;

void print(const char* what, const Result<void>& result) {
  std::printf("%s: %s\n", what, result ? "ok" : result.error().text().c_str());
}

template <class Value>
Result<void> only_error(const Result<Value>& result) {
  if (!result) return result.error();
  return {};
}

Kernel active(RingKernelRuntime& runtime) {
  return runtime.launch("echo", {.program = "echo", .auto_activate = true}).value();
}

int passing(RingKernelRuntime& runtime, const char* plan) {
  plan_faults(plan);
  Kernel kernel = active(runtime);
  int wrong = 0;
  // On a busy machine a slice may serve many calls.
  for (std::uint64_t i = 0; i < 200 || runtime.metrics().slices < 100; ++i) {
    const auto reply = kernel.call(numbered(i), patience);
    if (reply && number_of(*reply) == i) continue;
    ++wrong;
    print("call", only_error(reply));
  }
  print("deactivated", kernel.deactivate());
  print("terminated", kernel.terminate());
  plan_faults("none:0");
  std::printf("wrong: %d\n", wrong);
  return 0;
}

int lasting(RingKernelRuntime& runtime) {
  Kernel kernel = active(runtime);
  plan_faults("launch:all");
  Result<void> called;
  while (called) called = only_error(kernel.call(numbered(1), patience));  // by the last slice
  print("called", called);
  print("terminated", kernel.terminate());
  print("launched", only_error(runtime.launch("echo", {.program = "echo"})));
  plan_faults("none:0");
  print("launched", only_error(runtime.launch("echo", {.program = "echo"})));
  print("restarted", runtime.restart("echo"));
  Kernel again = active(runtime);
  print("called", only_error(again.call(numbered(2), patience)));
  return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  plan_faults("none:0");
  const std::string_view command = argument_count > 1 ? arguments[1] : "";
  auto runtime =
      RingKernelRuntime::builder().backend("opencl").options({.park_after = 1us}).build().value();
  if (command == "passing" && argument_count == 3) return passing(runtime, arguments[2]);
  if (command == "lasting") return lasting(runtime);
  return 2;
}
