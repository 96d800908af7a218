// A program under test in its own process: what it prints and how it ends is what the tests look
// at.
//   find NAME          finds the backend, perhaps a plugin, and prints its name and the user
//   discover           lists the OpenCL devices and the report
//   open               opens the first usable device and one executor
//   anew               the same, whatever is remembered of its self-test
//   choose             opens it with the strategy that it gets, and prints why no better one
//   slices N           launches N slices one after the other; prints the first error
//   exit | _exit       leaves while a slice is running
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "backend/registry.hpp"
#include "support/programs.hpp"
#include "unit/backend/executor_arena.hpp"

namespace {

using namespace ringkernel;
using ringkernel::testing::ExecutorArena;

constexpr auto long_wait = std::chrono::seconds(50);

int failed(const Error& error) {
  std::printf("error %s\n", error.text().c_str());
  return 1;
}

int find(const char* name) {
  const auto found = backend::find_backend(name);
  if (!found.has_value()) return failed(found.error());
  std::printf("found %s as user %u\n", std::string(found->name()).c_str(), geteuid());
  return 0;
}

int discover(const backend::Backend& opencl) {
  std::printf("score %d\n", opencl.score());
  const auto count = opencl.device_count();
  if (!count.has_value()) return failed(count.error());
  for (uint32_t number = 0; number < *count; ++number) {
    const auto device = opencl.describe(number);
    if (!device.has_value()) return failed(device.error());
    std::printf("device %s on %s, %u units\n", device->name, device->platform,
                device->compute_units);
  }
  const auto report = opencl.report();
  if (!report.has_value()) return failed(report.error());
  for (const std::string& line : *report) std::printf("report %s\n", line.c_str());
  return 0;
}

/// The first device that the OpenCL backend can serve; 0 where none is.
uint32_t usable_device(const backend::Backend& opencl) {
  const auto count = opencl.device_count();
  for (uint32_t number = 0; count.has_value() && number < *count; ++number)
    if (opencl.describe(number)->transfer != RK_TRANSFER_NONE) return number;
  return 0;
}

int slices(backend::OpenExecutor& executor, uint32_t count) {
  for (uint32_t slice = 1; slice <= count; ++slice) {
    if (const auto launched = executor.launch(slice); !launched.has_value())
      return failed(launched.error());
    if (const auto waited = executor.wait(long_wait); !waited.has_value())
      return failed(waited.error());
  }
  std::printf("all slices returned\n");
  return 0;
}

int leave_while_running(backend::OpenExecutor& executor, const ExecutorArena& arena, bool at_once) {
  if (const auto launched = executor.launch(1); !launched.has_value())
    return failed(launched.error());
  while (arena.running_slice() != 1) std::this_thread::yield();
  std::printf("leaving\n");
  std::fflush(stdout);
  if (at_once) _exit(0);
  std::exit(0);
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 2) return 2;
  const std::string_view command = arguments[1];
  if (command == "find" && argument_count == 3) return find(arguments[2]);
  const backend::Backend opencl = *backend::find_backend("opencl");
  if (command == "discover") return discover(opencl);

  auto device =
      opencl.open(usable_device(opencl),
                  {.struct_bytes = 0,
                   .executors_max = 1,
                   .arena_bytes = ExecutorArena::bytes,
                   .transfer = command == "choose" ? RK_TRANSFER_NONE : RK_TRANSFER_ZERO_COPY,
                   .work_groups = 1,
                   .test_anew = command == "anew" ? 1u : 0u,
                   .driver_timeout_ns = 0,
                   .end_timeout_ns = 0});
  if (!device.has_value()) return failed(device.error());
  if (command == "choose") {
    std::printf("%s\n%s", device->state()->self_test, device->state()->steps_down);
    return 0;
  }
  auto executor =
      device->create_executor(testing::built_in("echo"), ExecutorArena::executor_offset);
  if (!executor.has_value()) return failed(executor.error());
  std::printf("opened: %s\n", device->state()->self_test);
  std::fflush(stdout);
  if (command == "open" || command == "anew") return 0;
  ExecutorArena arena(device->state()->arena, command == "slices" ? 1 : 0xffffffffu);
  if (command == "slices" && argument_count == 3)
    return slices(*executor, static_cast<uint32_t>(std::strtoul(arguments[2], nullptr, 10)));
  if (command == "exit" || command == "_exit")
    return leave_while_running(*executor, arena, command == "_exit");
  return 2;
}
