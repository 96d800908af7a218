// Ends its process while a runtime lives, in the way that its second argument names. The first is
// the backend. Exit codes: 7 where the code says so, 0 from main, 1 if there is no such runtime.
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>
#include <thread>

#include "ringkernel/ringkernel.hpp"

namespace {

using namespace std::chrono_literals;
using ringkernel::Kernel;
using ringkernel::RingKernelRuntime;

std::optional<RingKernelRuntime> static_runtime;

/// A resident executor with one kernel that answered, one with messages that nobody executes.
RingKernelRuntime busy_runtime(const char* backend) {
  ringkernel::RuntimeOptions options;
  options.park_after = 200ms;
  auto runtime = RingKernelRuntime::builder().backend(backend).options(options).build();
  if (!runtime) {
    std::cerr << runtime.error().text() << '\n';
    std::exit(1);
  }
  ringkernel::KernelOptions kernel_options;
  kernel_options.program = "echo";
  const std::byte message[64]{};
  Kernel waiting = runtime->launch("waiting", kernel_options).value();
  (void)waiting.send(message).value();
  kernel_options.auto_activate = true;
  Kernel resident = runtime->launch("resident", kernel_options).value();
  (void)resident.send(message).value();
  (void)resident.receive(10s).value();
  return std::move(*runtime);
}

/// A thread that goes on calling until the process is gone.
void call_for_ever(RingKernelRuntime& runtime) {
  std::thread([kernel = runtime.kernel("resident").value()]() mutable {
    const std::byte message[64]{};
    for (;;) (void)kernel.call(message);
  }).detach();
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return 2;
  const std::string_view way = arguments[2];
  RingKernelRuntime runtime = busy_runtime(arguments[1]);
  if (way == "exit") std::exit(7);
  if (way == "exit_busy") {
    call_for_ever(runtime);
    std::exit(7);
  }
  if (way == "quick_exit") std::quick_exit(7);
  if (way == "static") static_runtime.emplace(std::move(runtime));
  if (way == "leak") (void)new RingKernelRuntime(std::move(runtime));
  return 0;
}
