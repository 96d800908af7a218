// Opens a runtime on OpenCL and prints what the program cache did. With "call" it also launches a
// kernel and checks an op.
// Exit codes: 0, 1 if something failed, 77 if there is no such device.
#include <array>
#include <iostream>
#include <string_view>

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

}  // namespace

int main(int argument_count, char** arguments) {
  auto runtime = RingKernelRuntime::builder().backend("opencl").build();
  if (!runtime) {
    std::cout << runtime.error().text() << '\n';
    return runtime.error() == Errc::backend_unavailable ? 77 : 1;
  }
  if (argument_count == 2 && std::string_view(arguments[1]) == "call") {
    if (const Result<void> added = add(*runtime); !added) {
      std::cout << added.error().text() << '\n';
      return 1;
    }
  }
  const RuntimeMetrics metrics = runtime->metrics();
  std::cout << "device " << metrics.device << "\nhits " << metrics.program_cache_hits << " misses "
            << metrics.program_cache_misses << " rejected " << metrics.program_cache_rejected
            << '\n';
  return 0;
}
