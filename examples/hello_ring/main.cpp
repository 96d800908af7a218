// The smallest service: one ring kernel, one call, and what an error looks like.
#include <array>
#include <cstdio>

#include "ringkernel/ringkernel.hpp"

namespace rk = ringkernel;

namespace {

// Every function answers with a value or an Error; RK_TRY takes the value or returns the error.
rk::Result<void> run() {
  RK_TRY(runtime, rk::RingKernelRuntime::builder().build());
  std::printf("device: %s\n", runtime.metrics().device.c_str());

  RK_TRY(kernel, runtime.launch("adder"));  // resident, and quiet until it is activated
  RK_TRY_VOID(kernel.activate());

  const std::array a{1.0f, 2.0f, 3.0f, 4.0f};
  const std::array b{10.0f, 20.0f, 30.0f, 40.0f};
  RK_TRY(reply, kernel.call(rk::ops::add(a, b)));
  std::printf("sum:");
  for (const float value : reply.floats()) std::printf(" %g", static_cast<double>(value));

  // What cannot work is refused before it reaches the device, with the shapes in the text.
  const std::array three{1.0f, 2.0f, 3.0f};
  if (const auto refused = kernel.call(rk::ops::add(a, three)); !refused)
    std::printf("\nrefused: %s\n", refused.error().text().c_str());

  RK_TRY_VOID(kernel.terminate());
  if (const auto late = kernel.call(rk::ops::add(a, b)); !late)
    std::printf("terminated: %s\n", late.error().text().c_str());
  return {};
}

}  // namespace

int main() {
  const rk::Result<void> result = run();
  if (!result) std::fprintf(stderr, "hello_ring: %s\n", result.error().text().c_str());
  return result ? 0 : 1;
}
