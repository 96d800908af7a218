// Weights that stay on the device: a small layer, relu(x * w + b), whose messages carry only x.
#include <array>
#include <cstdio>

#include "ringkernel/ringkernel.hpp"

namespace rk = ringkernel;

namespace {

rk::Result<rk::Tensor> resident(rk::RingKernelRuntime& runtime, const rk::Shape& shape,
                                std::span<const float> elements) {
  RK_TRY(tensor, runtime.allocate({rk::DType::f32, shape}));
  RK_TRY_VOID(tensor.write(elements));
  return tensor;
}

rk::Result<void> run() {
  RK_TRY(runtime, rk::RingKernelRuntime::builder().build());
  RK_TRY(kernel, runtime.launch("layer", {.auto_activate = true}));

  RK_TRY(w, resident(runtime, {2, 3}, std::array{1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}));
  RK_TRY(b, resident(runtime, {1, 3}, std::array{-5.0f, -2.0f, -9.0f}));
  RK_TRY(hidden, runtime.allocate({rk::DType::f32, {1, 3}}));

  // Operands may be inline or resident in any mix; a result goes into a tensor with `into`.
  const std::array x{1.0f, 2.0f};
  RK_TRY_VOID(kernel.call(rk::ops::matmul({{1, 2}, x}, w).into(hidden)));
  RK_TRY_VOID(kernel.call(rk::ops::add(hidden, b).into(hidden)));
  RK_TRY(reply, kernel.call(rk::ops::relu(hidden)));
  std::printf("scores:");
  for (const float score : reply.floats()) std::printf(" %g", static_cast<double>(score));

  // The last copy of a handle gives the memory back; this does it at once.
  RK_TRY_VOID(w.deallocate());
  if (const auto refused = kernel.call(rk::ops::relu(w)); !refused)
    std::printf("\nrefused: %s\n", refused.error().text().c_str());
  return {};
}

}  // namespace

int main() {
  const rk::Result<void> result = run();
  if (!result) std::fprintf(stderr, "hello_tensors: %s\n", result.error().text().c_str());
  return result ? 0 : 1;
}
