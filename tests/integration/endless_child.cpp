// A handler that never returns: what its caller, other kernels, and the ends of kernel and runtime
// see of it. Prints that, a line for each, and ends without waiting for anybody.
//   endless_child BACKEND WORK_GROUPS
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

/// Answers with a byte, unless the message begins with 1.
constexpr const char* handlers =
    "RK_ON_BYTES {\n"
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

/// Whether its only message is in the ring, and a slice at work.
bool is_at_work(const Kernel& kernel) {
  const KernelMetrics metrics = kernel.metrics();
  return metrics.accepted != 0 && metrics.slices > metrics.parks;
}

int run(const char* backend, std::uint32_t work_groups) {
  auto opened = RingKernelRuntime::builder()
                    .backend(backend)
                    .options({.work_groups = work_groups, .termination_timeout = soon})
                    .build();
  if (!opened) {
    tell("open", opened);
    return opened.error() == Errc::backend_unavailable ? 77 : 1;
  }
  RingKernelRuntime& runtime = *opened;
  tell("add", runtime.add_program({.name = "endless",
                                   .source = Source::text("endless.rk.cl", handlers),
                                   .reply_bytes = 1}));
  Kernel stuck = runtime.launch("stuck", {.program = "endless", .auto_activate = true}).value();
  Kernel beside = runtime.launch("beside", {.program = "endless", .auto_activate = true}).value();
  Kernel other = runtime.launch("other", {.program = "echo", .auto_activate = true}).value();
  const std::vector<std::byte> brief(1, std::byte{0});
  const std::vector<std::byte> endless(1, std::byte{1});
  tell("before", beside.call(brief));
  std::promise<Result<Reply>> called;
  auto ended = called.get_future();
  std::thread([&] { called.set_value(stuck.call(endless, {.timeout = soon})); }).detach();
  while (!is_at_work(stuck)) std::this_thread::yield();
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
  std::printf("over\n");
  std::fflush(stdout);
  std::_Exit(0);  // the handler never ends
}

}  // namespace

int main(int argument_count, char** arguments) {
  constexpr unsigned patience_s = 110;
  alarm(patience_s);  // a hang is told by whoever started this
  if (argument_count != 3) return 2;
  return run(arguments[1], static_cast<std::uint32_t>(std::atoi(arguments[2])));
}
