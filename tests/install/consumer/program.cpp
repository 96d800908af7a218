// What a user of an installed copy writes who has a program of their own.
#include <cstdio>

#include "counter_generated.h"
#include "counter_program.hpp"
#include "ringkernel/ringkernel.hpp"
#include "ringkernel/typed.hpp"

namespace rk = ringkernel;

namespace {

rk::Result<void> run() {
  RK_TRY(runtime, rk::RingKernelRuntime::builder().backend("native").build());
  RK_TRY_VOID(runtime.add_program(counter_program()));
  RK_TRY(kernel, runtime.launch("counter", {.program = "counter", .behaviour = "Counter"}));
  RK_TRY_VOID(kernel.activate());
  flatbuffers::FlatBufferBuilder step;
  step.Finish(counting::CreateStep(step, 21));
  const auto request = rk::typed<counting::Step>(step);
  RK_TRY_VOID(kernel.call<counting::Sum>("Add", request));
  RK_TRY(sum, kernel.call<counting::Sum>("Add", request));
  if (sum->value() != 42) return rk::Error(rk::Errc::internal, "another sum");
  std::printf("%s: right\n", counter_program().name.c_str());
  return kernel.terminate();
}

}  // namespace

int main() {
  const rk::Result<void> result = run();
  if (!result) std::printf("%s\n", result.error().text().c_str());
  return result ? 0 : 1;
}
