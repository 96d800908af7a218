// A handler that never returns: what its caller, other kernels, and the ends of kernel and runtime
// see of it. Prints that, a line for each, and ends without waiting for anybody.
//   endless_child BACKEND WORK_GROUPS
//   endless_child taken_up    natively: by the thread of another kernel's call
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "ringkernel/ringkernel.hpp"

namespace {

using namespace ringkernel;
using namespace std::chrono_literals;

constexpr auto soon = 100ms;

/// Answers with a byte, unless the message begins with 1. With 2 it takes a second or two.
constexpr const char* handlers =
    "RK_ON_BYTES {\n"
    "  volatile rk_u64 left = rk_request_bytes(self)[0] == 2 ? 1000000000u : 0u;\n"
    "  while (left != 0) left -= 1;\n"
    "  rk_u32 n = rk_request_bytes(self)[0] == 1 ? 3 : 77;\n"
    "  while (n != 77) n ^= 1;\n"  // which C++ may take for one that ends
    "  rk_reply_bytes(self)[0] = (rk_u8)n;\n"
    "  return RK_OK;\n"
    "}\n";

template <class Value>
void tell(const char* what, const Result<Value>& result) {
  std::printf("%s: %s\n", what, result ? "ok" : result.error().text().c_str());
  std::fflush(stdout);
}

/// Waits until that many of its messages are in the ring, and a slice is at work.
void await_work(const Kernel& kernel, std::uint64_t messages) {
  for (KernelMetrics metrics = kernel.metrics();
       metrics.accepted < messages || metrics.slices <= metrics.parks; metrics = kernel.metrics())
    std::this_thread::yield();
}

Result<RingKernelRuntime> open(const char* backend, std::uint32_t work_groups) {
  auto opened = RingKernelRuntime::builder()
                    .backend(backend)
                    .options({.work_groups = work_groups, .termination_timeout = soon})
                    .build();
  tell("open", opened);
  if (opened)
    tell("add", opened->add_program({.name = "endless",
                                     .source = Source::text("endless.rk.cl", handlers),
                                     .reply_bytes = 1}));
  return opened;
}

[[noreturn]] void end() {
  std::printf("over\n");
  std::fflush(stdout);
  std::_Exit(0);  // the handler never ends
}

int run(const char* backend, std::uint32_t work_groups) {
  auto opened = open(backend, work_groups);
  if (!opened) return opened.error() == Errc::backend_unavailable ? 77 : 1;
  RingKernelRuntime& runtime = *opened;
  Kernel stuck = runtime.launch("stuck", {.program = "endless", .auto_activate = true}).value();
  Kernel beside = runtime.launch("beside", {.program = "endless", .auto_activate = true}).value();
  Kernel other = runtime.launch("other", {.program = "echo", .auto_activate = true}).value();
  const std::vector<std::byte> brief(1, std::byte{0});
  const std::vector<std::byte> endless(1, std::byte{1});
  tell("before", beside.call(brief));
  std::promise<Result<Reply>> called;
  auto ended = called.get_future();
  std::thread([&] { called.set_value(stuck.call(endless, {.timeout = soon})); }).detach();
  await_work(stuck, 1);
  // Natively, where there is one work-group, the caller's thread is in the handler.
  const bool is_on_callers = std::string_view(backend) == "native" && work_groups == 1;
  if (!is_on_callers) tell("its call", ended.get());
  tell("beside", beside.call(brief, {.timeout = soon}));
  tell("other", other.call(brief));
  (void)runtime.metrics();
  tell("deactivate", stuck.deactivate());
  tell("terminate", stuck.terminate());
  tell("restart", runtime.restart("endless"));
  tell("other, again", other.call(brief));
  tell("other, terminated", other.terminate({.timeout = 20s}));
  tell("shutdown", runtime.shutdown());
  if (is_on_callers && ended.wait_for(0s) == std::future_status::ready)
    tell("its call", ended.get());
  end();
}

/// The slice of the call obeys the end of its kernel, and then meets the endless message.
int run_taken_up() {
  auto opened = open("native", 1);
  if (!opened) return 1;
  RingKernelRuntime& runtime = *opened;
  Kernel calling = runtime.launch("calling", {.program = "endless", .auto_activate = true}).value();
  Kernel beside = runtime.launch("beside", {.program = "endless", .auto_activate = true}).value();
  // The slice that found the kernels active makes way for calls that run theirs.
  tell("before", calling.call(std::vector<std::byte>(1, std::byte{0})));
  std::thread([calling]() mutable {
    const std::vector<std::byte> slow(1, std::byte{2});
    (void)calling.call(slow, {.timeout = 60s}).has_value();
  }).detach();
  await_work(calling, 2);
  const std::vector<std::byte> endless(1, std::byte{1});
  tell("send", beside.send(endless));
  tell("terminate", calling.terminate({.timeout = 3s}));
  tell("restart", runtime.restart("endless"));
  tell("shutdown", runtime.shutdown());
  end();
}

}  // namespace

int main(int argument_count, char** arguments) {
  constexpr unsigned patience_s = 110;
  alarm(patience_s);  // a hang is told by whoever started this
  if (argument_count == 2 && std::string_view(arguments[1]) == "taken_up") return run_taken_up();
  if (argument_count != 3) return 2;
  return run(arguments[1], static_cast<std::uint32_t>(std::atoi(arguments[2])));
}
