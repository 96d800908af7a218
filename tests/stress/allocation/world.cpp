#include <algorithm>
#include <array>
#include <chrono>

#include "stress/allocation/cases.hpp"

namespace ringkernel::test::allocation {

using namespace std::chrono_literals;

namespace {

constexpr std::array<float, 4> elements{1, 2, 3, 4};

}  // namespace

RuntimeOptions runtime_options() {
  return {.arena_bytes = 16 << 20,
          .kernels_per_program = 16,
          .telemetry_period = 20ms,
          .call_timeout = 5s,
          .termination_timeout = 5s};
}

TensorView numbers() noexcept { return {{4}, elements}; }

bool is_double(std::span<const float> found) noexcept {
  return std::ranges::equal(found, elements, {}, {}, [](float x) { return 2 * x; });
}

bool Waiter::wait() {
  const auto end = std::chrono::steady_clock::now() + 8s;
  while (calls_ == 0 && std::chrono::steady_clock::now() < end) {
    io_.run_one_for(100ms);
    io_.restart();
  }
  io_.poll();
  return calls_ == 1;
}

void World::open_bare() {
  runtime.emplace(
      RingKernelRuntime::builder().backend(backend).options(runtime_options()).build().value());
  free_bytes = 0;
}

void World::open() {
  open_bare();
  launch_both();
  kernel.terminate().value();
  echo.terminate().value();
  free_bytes = runtime->metrics().arena_free_bytes;
}

void World::launch_both() {
  kernel = runtime->launch("main", {.auto_activate = true}).value();
  echo = runtime->launch("echo", {.program = "echo", .auto_activate = true}).value();
}

bool World::is_sound() {
  try {
    if (kernel.status() != KernelStatus::terminated) (void)kernel.terminate().value();
    if (echo.status() != KernelStatus::terminated) (void)echo.terminate().value();
    kernel = {};
    echo = {};
    tensor = {};
    function = {};
    graph.reset();
    events = {};
    if (!runtime) open();
    for (const std::string& id : runtime->kernels()) (void)runtime->terminate(id).value();
    launch_both();
    const Reply reply = kernel.call(ops::add(numbers(), numbers())).value();
    if (!is_double(reply.floats())) complaint = "a call gives a wrong answer afterwards";
    const std::array bytes{std::byte{1}, std::byte{2}};
    if (!std::ranges::equal(echo.call(Bytes(bytes)).value().bytes(), bytes))
      complaint = "an echo is wrong afterwards";
    kernel.terminate().value();
    echo.terminate().value();
    const std::uint64_t now_free = runtime->metrics().arena_free_bytes;
    if (free_bytes == 0) free_bytes = now_free;  // the programs were built just now
    if (now_free != free_bytes)
      complaint = "the arena has " + std::to_string(now_free) + " bytes free, not " +
                  std::to_string(free_bytes);
  } catch (const std::exception& failure) {
    complaint = std::string("afterwards: ") + failure.what();
  }
  return complaint.empty();
}

bool World::closes() {
  mind.reset();
  if (!runtime) return true;
  const Result<void> closed = runtime->shutdown();
  if (!closed) complaint = "shutdown: " + closed.error().text();
  runtime.reset();
  return complaint.empty();
}

}  // namespace ringkernel::test::allocation
