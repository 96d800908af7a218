// A service that calls until it is killed, for killed_service_test.cpp: BACKEND. Prints its
// counters file, how many programs of the cache it could not trust, and then "right", where its
// first calls were answered right. Exit codes: 1 if anything was wrong, 77 if there is no such
// device.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "ringkernel/ringkernel.hpp"
#include "support/backends.hpp"

namespace {

using namespace ringkernel;
using namespace ringkernel::test;
using namespace std::chrono_literals;

constexpr auto patience = 60s;

bool is_echoed(Kernel& kernel, std::uint64_t number) {
  const auto reply = kernel.call(numbered(number), patience);
  return reply && number_of(*reply) == number;
}

bool is_added(Kernel& kernel) {
  const std::array left{1.0f, 2.0f};
  const std::array right{10.0f, 20.0f};
  const auto reply = kernel.call(ops::add(left, right), patience);
  return reply && reply->floats()[0] == 11 && reply->floats()[1] == 22;
}

[[noreturn]] void end_as_wrong() {
  std::printf("wrong\n");
  std::fflush(stdout);
  std::_Exit(1);
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) return 2;
  auto runtime = RingKernelRuntime::builder()
                     .backend(arguments[1])
                     .options({.park_after = 10us, .telemetry_period = 1ms, .latency_sampling = 1})
                     .build();
  if (!runtime) {
    std::printf("%s\n", runtime.error().text().c_str());
    return runtime.error() == Errc::backend_unavailable ? 77 : 1;
  }
  Kernel echo = runtime->launch("echo", {.program = "echo", .auto_activate = true}).value();
  Kernel core = runtime->launch("core", {.program = "core", .auto_activate = true}).value();
  const RuntimeMetrics metrics = runtime->metrics();
  std::printf("%s\nrejected %llu\n", metrics.telemetry_file.c_str(),
              static_cast<unsigned long long>(metrics.program_cache_rejected));
  if (!is_echoed(echo, 1) || !is_added(core)) end_as_wrong();
  std::printf("right\n");
  std::fflush(stdout);

  const std::jthread adding([&] {
    while (is_added(core)) {
    }
    end_as_wrong();
  });
  for (std::uint64_t number = 2; is_echoed(echo, number); ++number) {
    auto passing = runtime->launch("passing", {.program = "echo", .auto_activate = true});
    if (!passing || !is_echoed(*passing, number) || !passing->terminate()) break;
  }
  end_as_wrong();
}
