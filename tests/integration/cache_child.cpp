// Opens a runtime on OpenCL and prints what the program cache did. With "call" it also launches a
// kernel and checks an op, with "program [BACKEND]" a user's program instead.
// Exit codes: 0, 1 if something failed, 77 if there is no such device.
#include <array>
#include <cstddef>
#include <iostream>
#include <string_view>
#include <vector>

#include "ringkernel/ringkernel.hpp"

namespace {

using namespace ringkernel;

Result<void> add(RingKernelRuntime& runtime) {
  KernelOptions options;
  options.auto_activate = true;
  RK_TRY(kernel, runtime.launch("adder", options));
  const std::array left{1.0f, 2.0f};
  const std::array right{10.0f, 20.0f};
  RK_TRY(reply, kernel.call(ops::add(left, right)));
  std::cout << "sums " << reply.floats()[0] << ' ' << reply.floats()[1] << '\n';
  return {};
}

Result<void> run_program(RingKernelRuntime& runtime) {
  RK_TRY_VOID(runtime.add_program(
      {.name = "lengths",
       .source = Source::text("lengths.rk.cl",
                              "RK_ON_BYTES {\n"
                              "  rk_reply_bytes(self)[0] = (rk_u8)(rk_request_length(self) + 1);\n"
                              "  return RK_OK;\n"
                              "}\n"),
       .reply_bytes = 1}));
  RK_TRY(kernel, runtime.launch("a", {.program = "lengths", .auto_activate = true}));
  RK_TRY(reply, kernel.call(std::vector<std::byte>(41)));
  std::cout << "answer " << std::to_integer<int>(reply.bytes()[0]) << '\n';
  return {};
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view what = argument_count > 1 ? arguments[1] : "";
  auto runtime =
      RingKernelRuntime::builder().backend(argument_count > 2 ? arguments[2] : "opencl").build();
  if (!runtime) {
    std::cout << runtime.error().text() << '\n';
    return runtime.error() == Errc::backend_unavailable ? 77 : 1;
  }
  Result<void> done;
  if (what == "call") done = add(*runtime);
  if (what == "program") done = run_program(*runtime);
  if (!done) {
    std::cout << done.error().text() << '\n';
    return 1;
  }
  const RuntimeMetrics metrics = runtime->metrics();
  std::cout << "device " << metrics.device << "\nhits " << metrics.program_cache_hits << " misses "
            << metrics.program_cache_misses << " rejected " << metrics.program_cache_rejected
            << '\n';
  return 0;
}
