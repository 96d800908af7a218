// A runtime on a device that interprets kernels, on the thread that flushes: small, and talked to
// by one thread. Prints the strategy and what went wrong; ends with 0 if nothing did.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <vector>

#include "ringkernel/ringkernel.hpp"

namespace {

using namespace ringkernel;

/// A user's: counts, in a state that outlives the slices.
Result<void> talk_to_program(RingKernelRuntime& runtime) {
  RK_TRY_VOID(runtime.add_program(
      {.name = "count",
       .source = Source::text("count.rk.cl",
                              "RK_ON_BYTES {\n"
                              "  RK_GLOBAL rk_u64* count = (RK_GLOBAL rk_u64*)state;\n"
                              "  *count += rk_request_length(self);\n"
                              "  *(RK_GLOBAL rk_u64*)rk_reply_bytes(self) = *count;\n"
                              "  return RK_OK;\n"
                              "}\n"),
       .state_bytes = 8,
       .reply_bytes = 8}));
  RK_TRY(kernel, runtime.launch("count", {.program = "count",
                                          .input_bytes = 4096,
                                          .output_bytes = 4096,
                                          .auto_activate = true}));
  std::uint64_t counted = 0;
  for (int i = 0; i < 3; ++i) {
    RK_TRY(reply, kernel.call(std::vector<std::byte>(14)));
    std::memcpy(&counted, reply.bytes().data(), sizeof counted);
  }
  if (counted != 42) return Error(Errc::internal, "a wrong count");
  return {};
}

Result<void> talk() {
  // Another thread looks at the device's counters all the time.
  const RuntimeOptions options{.arena_bytes = 1 << 20,
                               .kernels_per_program = 16,
                               .telemetry_period = std::chrono::milliseconds(1)};
  RK_TRY(runtime, RingKernelRuntime::builder().backend("opencl").options(options).build());
  std::cout << runtime.metrics().transfer << '\n';
  const KernelOptions small{.program = "echo",
                            .input_bytes = 4096,
                            .output_bytes = 4096,
                            .backpressure = Backpressure::block,
                            .auto_activate = true};
  RK_TRY(echo, runtime.launch("echo", small));
  // Lengths that wrap both rings at many places, padding included.
  for (std::size_t bytes = 1; bytes < 1900; bytes += 211) {
    const std::vector<std::byte> message(bytes, static_cast<std::byte>(bytes));
    RK_TRY(reply, echo.call(message));
    if (!std::ranges::equal(reply.bytes(), message)) return Error(Errc::internal, "another echo");
  }
  // More than the rings take at once.
  const std::vector<std::byte> message(500, std::byte{3});
  for (int i = 0; i < 12; ++i) RK_TRY_VOID(echo.send(message));
  for (int i = 0; i < 12; ++i) {
    RK_TRY(reply, echo.receive(std::chrono::seconds(60)));
    if (!std::ranges::equal(reply.bytes(), message)) return Error(Errc::internal, "another echo");
  }
  RK_TRY(core, runtime.launch("core", {.auto_activate = true}));
  RK_TRY(tensor, runtime.allocate({DType::f32, {4}}));
  RK_TRY_VOID(tensor.write(std::vector{1.0f, 2.0f, 3.0f, 4.0f}));
  RK_TRY_VOID(core.call(ops::add(tensor, tensor).into(tensor)));
  std::vector<float> sums(4);
  RK_TRY_VOID(tensor.read(sums));
  if (sums[3] != 8.0f) return Error(Errc::internal, "a wrong sum");
  RK_TRY_VOID(talk_to_program(runtime));
  return runtime.shutdown();
}

}  // namespace

int main() {
  const Result<void> result = talk();
  if (result) return 0;
  std::cout << result.error().text() << '\n';
  return 1;
}
