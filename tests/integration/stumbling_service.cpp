// Works on a device whose calls fail as fault_layer.cpp is told, for device_faults_test.cpp.
//   passing PLAN   launches a kernel and calls it, each time with a slice of its own, while faults
//   of that plan come and pass
//   lasting        calls until the device takes no more slices, then the way back
//   stalling       a life with short deadlines while a call of the driver hangs or takes seconds,
//   as RK_STALL says, and another life
//   failing        likewise while calls fail, and with the way back: no fault lasts from there on
//   looking        opens runtimes while the driver does not say which devices it has
//   warm           the same life without haste, which leaves caches full
// Prints what happened.
#include <unistd.h>

#include <algorithm>
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
constexpr int rounds = 12;

/// What a life gives its calls, its ends, and whatever waits for the driver.
struct Timeouts {
  std::chrono::milliseconds call;
  std::chrono::milliseconds end;
  std::chrono::milliseconds driver;
};
constexpr Timeouts timeouts_short{500ms, 500ms, 1500ms};
constexpr Timeouts timeouts_long{20s, 20s, 60s};

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

/// How a call ended; with what its reply says, which is to be `number`.
Result<void> checked(const Result<Reply>& reply, std::uint64_t number) {
  if (reply && number_of(*reply) != number) return Error(Errc::device_error, "WRONG");
  return only_error(reply);
}
Result<void> checked(const Result<Reply>& reply, const std::vector<float>& sums) {
  if (reply && !std::ranges::equal(reply->floats(), sums))
    return Error(Errc::device_error, "WRONG");
  return only_error(reply);
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
void use_it_widely(Steps& steps, RingKernelRuntime& runtime, const Timeouts& timeouts,
                   bool has_counter) {
  std::vector<std::jthread> threads;
  const auto beside = [&](auto&& work) { threads.emplace_back(work); };
  if (auto kernel = runtime.kernel("one"))
    beside([&, kernel = *kernel]() mutable {
      steps.take("async_call", timeouts.call, [&] { return call_without_waiting(kernel); });
      steps.take("deactivate", timeouts.end, [&] { return kernel.deactivate(); });
    });
  if (auto kernel = runtime.kernel("two"))
    beside([&, kernel = *kernel]() mutable {
      if (!steps.take("send", timeouts.call, [&] { return kernel.send(numbered(1)); })) return;
      steps.take("receive", timeouts.call,
                 [&] { return checked(kernel.receive(timeouts.call), 1); });
    });
  beside([&] {
    const std::vector<float> there{1, 2, 3, 4};
    std::vector<float> back(4);
    auto tensor = steps.take("allocate", timeouts.driver, [&] {
      return runtime.allocate({DType::f32, {4}});
    });
    if (!tensor || !steps.take("write", timeouts.driver, [&] { return tensor->write(there); }))
      return;
    if (steps.take("read", timeouts.driver, [&] { return tensor->read(back); }) && back != there)
      std::printf("read: WRONG\n");
  });
  if (auto kernel = runtime.kernel("four"))
    beside([&, kernel = *kernel]() mutable {
      std::vector<std::byte> state(8);
      steps.take("read_state", timeouts.driver, [&] { return kernel.read_state(state); });
      steps.take("write_state", timeouts.driver, [&] { return kernel.write_state(state); });
    });
  if (has_counter)
    beside([&] {
      steps.take("swap_program", timeouts.driver, [&] { return runtime.swap_program(counter(2)); });
    });
}

/// Kernels "one", "two" and "three", of ops.
Result<void> call_a_kernel(Kernel& kernel) {
  const std::vector<float> tensor{1, 2};
  if (kernel.id() == "three") return checked(kernel.call(ops::add(tensor, tensor)), {2, 4});
  return checked(kernel.call(numbered(1)), 1);
}

/// From where a fault that has passed is behind it: with the programs restarted all is as before.
void come_back(Steps& steps, RingKernelRuntime& runtime, const Timeouts& timeouts) {
  steps.take("another", timeouts.driver,  // of a program that may have failed
             [&] { return runtime.launch("late", {.program = "echo"}); });
  plan_faults("over:0");
  std::printf("back\n");
  std::fflush(stdout);
  for (const char* const program : {"echo", "core"}) {
    steps.take("restart", 2 * timeouts.end, [&] { return runtime.restart(program); });
    auto kernel = steps.take("renew", timeouts.driver, [&] {
      const char* const id = std::string_view(program) == "core" ? "three" : "one";
      return runtime.launch(id, {.program = program, .auto_activate = true});
    });
    if (kernel) steps.take("reply", timeouts.call, [&] { return call_a_kernel(*kernel); });
  }
}

/// Two kernels of one program, one of another, one of the user's: messages, figures, ends.
void live_a_life(Steps& steps, const Timeouts& timeouts, bool comes_back = false) {
  auto opened = steps.take("open", timeouts.driver, [&] {
    return RingKernelRuntime::builder()
        .backend("opencl")
        .options({.park_after = 1us,
                  .call_timeout = timeouts.call,
                  .send_timeout = timeouts.call,
                  .termination_timeout = timeouts.end,
                  .driver_timeout = timeouts.driver})
        .build();
  });
  if (!opened) return;
  RingKernelRuntime& runtime = *opened;
  std::vector<Kernel> kernels;
  const auto launch = [&](const char* id, const char* program, bool is_active = true) {
    auto kernel = steps.take("launch", timeouts.driver, [&] {
      return runtime.launch(id, {.program = program, .auto_activate = is_active});
    });
    if (kernel) kernels.push_back(*kernel);
  };
  launch("one", "echo");
  launch("two", "echo");
  launch("three", "core");
  const auto added =
      steps.take("add_program", timeouts.driver, [&] { return runtime.add_program(counter(1)); });
  if (added) launch("four", "counter", false);  // so that its state can be copied
  bool is_well = true;
  for (int round = 0; round < rounds && is_well; ++round) {
    for (Kernel& kernel : kernels) {
      if (kernel.id() == "four") continue;
      const Result<void> called =
          steps.take("call", timeouts.call, [&] { return call_a_kernel(kernel); });
      is_well &= called.has_value();
    }
  }
  steps.take("metrics", timeouts.call, [&]() -> Result<void> {
    (void)runtime.metrics();
    return {};
  });
  use_it_widely(steps, runtime, timeouts, added.has_value());
  for (Kernel& kernel : kernels)
    steps.take("terminate", timeouts.end, [&] { return kernel.terminate(); });
  steps.take("restart", 2 * timeouts.end, [&] { return runtime.restart("core"); });
  if (comes_back) come_back(steps, runtime, timeouts);
  steps.take("close", 4 * timeouts.end, [&] { return runtime.shutdown(); });
}

int live_twice(const Timeouts& timeouts, bool comes_back) {
  constexpr unsigned patience_s = 45;
  alarm(patience_s);  // a hang is told by whoever started this, and at once
  Steps steps;
  live_a_life(steps, timeouts, comes_back);
  if (comes_back) plan_faults("over:0");
  std::printf("again\n");
  std::fflush(stdout);
  live_a_life(steps, timeouts, comes_back);
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
  if (command == "stalling") return live_twice(timeouts_short, false);
  if (command == "failing") return live_twice(timeouts_long, true);
  if (command == "looking") return looking();
  if (command == "warm") {
    Steps steps;
    live_a_life(steps, timeouts_long);
    return 0;
  }
  auto runtime =
      RingKernelRuntime::builder().backend("opencl").options({.park_after = 1us}).build().value();
  if (command == "passing" && argument_count == 3) return passing(runtime, arguments[2]);
  if (command == "lasting") return lasting(runtime);
  return 2;
}
