// Works on a device whose calls fail as fault_layer.cpp is told, for device_faults_test.cpp.
//   passing PLAN   launches a kernel and calls it, each time with a slice of its own, while faults
//   of that plan come and pass
//   lasting        calls until the device takes no more slices, then the way back
//   stalling       a life with short deadlines while a call of the driver hangs or takes seconds,
//   as RK_STALL says
//   looking        opens runtimes while the driver does not say which devices it has
//   warm           the same life without haste, which leaves caches full
// Prints what happened.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ringkernel/ringkernel.hpp"
#include "support/backends.hpp"
#include "support/device_faults.hpp"

namespace {

using namespace ringkernel;
using namespace ringkernel::test;
using namespace std::chrono_literals;

constexpr auto patience = 20s;
constexpr auto call_timeout = 500ms;
constexpr auto end_timeout = 500ms;
constexpr int rounds = 12;
constexpr auto close_timeout = 4 * end_timeout;

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

/// Times what a step takes, and says how it ended.
class Steps {
 public:
  /// `step()` gives a Result; it is to end within `deadline`, but for what a busy machine takes.
  template <class Step>
  auto take(const char* what, std::chrono::milliseconds deadline, Step&& step) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = step();
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    const bool is_late = took > deadline + margin;
    if (result && !is_late) return result;  // nothing to tell
    std::printf("%s: %lld ms of %lld%s: %s\n", what, static_cast<long long>(took.count()),
                static_cast<long long>(deadline.count()), is_late ? ", LATE" : "",
                result ? "ok" : result.error().text().c_str());
    std::fflush(stdout);
    return result;
  }

 private:
  /// Of a machine that has much else to do. A call of the driver that takes ten seconds is not over
  /// then either.
  static constexpr std::chrono::milliseconds margin = 7000ms;
};

/// Another version of it takes its place.
ProgramDesc counter(int version) {
  return {.name = "counter",
          .source = Source::text("counter.rk.cl",
                                 "RK_ON_BYTES {\n"
                                 "  (void)rk_request_length(self);\n"
                                 "  rk_reply_bytes(self)[0] = " +
                                     std::to_string(version) +
                                     ";\n"
                                     "  *(RK_GLOBAL rk_u64*)state += 1;\n"
                                     "  return RK_OK;\n"
                                     "}\n"),
          .state_bytes = 8,
          .reply_bytes = 1};
}

/// `async_call`, waited for here.
Result<void> call_without_waiting(Kernel kernel) {
  FutureCode ended;
  kernel.async_call(numbered(1), ended.token());
  if (const error_code code = ended.get()) return Error(code, "async_call");
  return {};
}

/// What waits for the device otherwise than a call does, one thing beside the others: so a device
/// that hangs keeps this no longer than the longest of them.
void use_it_widely(Steps& steps, RingKernelRuntime& runtime,
                   std::chrono::milliseconds driver_timeout) {
  std::vector<std::jthread> threads;
  const auto beside = [&](auto&& work) { threads.emplace_back(work); };
  if (auto kernel = runtime.kernel("one"))
    beside([&, kernel = *kernel]() mutable {
      steps.take("async_call", call_timeout, [&] { return call_without_waiting(kernel); });
      steps.take("deactivate", end_timeout, [&] { return kernel.deactivate(); });
    });
  if (auto kernel = runtime.kernel("two"))
    beside([&, kernel = *kernel]() mutable {
      if (!steps.take("send", call_timeout, [&] { return kernel.send(numbered(1)); })) return;
      steps.take("receive", call_timeout, [&] { return kernel.receive(call_timeout); });
    });
  beside([&] {
    const std::vector<float> there{1, 2, 3, 4};
    std::vector<float> back(4);
    auto tensor = steps.take("allocate", driver_timeout, [&] {
      return runtime.allocate({DType::f32, {4}});
    });
    if (!tensor) return;
    steps.take("write", driver_timeout, [&] { return tensor->write(there); });
    steps.take("read", driver_timeout, [&] { return tensor->read(back); });
  });
  if (auto kernel = runtime.kernel("four"))
    beside([&, kernel = *kernel]() mutable {
      std::vector<std::byte> state(8);
      steps.take("read_state", driver_timeout, [&] { return kernel.read_state(state); });
      steps.take("write_state", driver_timeout, [&] { return kernel.write_state(state); });
    });
  beside([&] {
    steps.take("swap_program", driver_timeout, [&] { return runtime.swap_program(counter(2)); });
  });
}

/// Two kernels of one program, one of another, one of the user's: messages, figures, ends; and all
/// of it once more.
void live_a_life(Steps& steps, std::chrono::milliseconds driver_timeout) {
  auto opened = steps.take("open", driver_timeout, [&] {
    return RingKernelRuntime::builder()
        .backend("opencl")
        .options({.park_after = 1us,
                  .call_timeout = call_timeout,
                  .send_timeout = call_timeout,
                  .termination_timeout = end_timeout,
                  .driver_timeout = driver_timeout})
        .build();
  });
  if (!opened) return;
  RingKernelRuntime& runtime = *opened;
  std::vector<Kernel> kernels;
  const auto launch = [&](const char* id, const char* program, bool is_active = true) {
    auto kernel = steps.take("launch", driver_timeout, [&] {
      return runtime.launch(id, {.program = program, .auto_activate = is_active});
    });
    if (kernel) kernels.push_back(*kernel);
  };
  launch("one", "echo");
  launch("two", "echo");
  launch("three", "core");
  const auto added =
      steps.take("add_program", driver_timeout, [&] { return runtime.add_program(counter(1)); });
  if (added) launch("four", "counter", false);  // so that its state can be copied
  bool is_well = true;
  for (int round = 0; round < rounds && is_well; ++round) {
    for (Kernel& kernel : kernels) {
      if (kernel.id() == "four") continue;
      const std::vector<float> tensor{1, 2};
      const Result<void> called = steps.take("call", call_timeout, [&] {
        return kernel.id() == "three" ? only_error(kernel.call(ops::add(tensor, tensor)))
                                      : only_error(kernel.call(numbered(1)));
      });
      is_well &= called.has_value();
    }
  }
  steps.take("metrics", call_timeout, [&]() -> Result<void> {
    (void)runtime.metrics();
    return {};
  });
  use_it_widely(steps, runtime, driver_timeout);
  for (Kernel& kernel : kernels)
    steps.take("terminate", end_timeout, [&] { return kernel.terminate(); });
  steps.take("restart", 2 * end_timeout, [&] { return runtime.restart("core"); });
  steps.take("close", close_timeout, [&] { return runtime.shutdown(); });
}

int stalling() {
  constexpr unsigned patience_s = 45;
  alarm(patience_s);  // a hang is told by whoever started this, and at once
  Steps steps;
  constexpr auto driver_timeout = 1500ms;
  live_a_life(steps, driver_timeout);
  std::printf("again\n");
  live_a_life(steps, driver_timeout);
  std::printf("over\n");
  std::fflush(stdout);
  std::quick_exit(0);  // a driver's own end may wait for its threads
}

/// A service that asks for no device has to go on without OpenCL.
int looking() {
  constexpr unsigned patience_s = 90;
  alarm(patience_s);
  Steps steps;
  constexpr auto discovery_timeout = 60s;
  constexpr auto at_once = 0s;
  const auto serve = [&](const char* what, std::chrono::milliseconds deadline) {
    auto runtime = steps.take(what, deadline, [] { return RingKernelRuntime::builder().build(); });
    if (!runtime) return;
    Kernel kernel = active(*runtime);
    print(runtime->metrics().backend.c_str(), only_error(kernel.call(numbered(1), patience)));
  };
  serve("first", discovery_timeout);
  serve("second", at_once);
  steps.take("opencl", at_once,
             [] { return RingKernelRuntime::builder().backend("opencl").build(); });
  std::printf("over\n");
  std::fflush(stdout);
  std::quick_exit(0);
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (std::getenv("RK_FAULT") == nullptr) plan_faults("none:0");
  const std::string_view command = argument_count > 1 ? arguments[1] : "";
  if (command == "stalling") return stalling();
  if (command == "looking") return looking();
  if (command == "warm") {
    Steps steps;
    live_a_life(steps, 60s);
    return 0;
  }
  auto runtime =
      RingKernelRuntime::builder().backend("opencl").options({.park_after = 1us}).build().value();
  if (command == "passing" && argument_count == 3) return passing(runtime, arguments[2]);
  if (command == "lasting") return lasting(runtime);
  return 2;
}
