// What a user of an installed copy writes who calls a program in JSON.
#include <cstdio>

#include "counter_program.hpp"
#include "ringkernel/json.hpp"
#include "ringkernel/ringkernel.hpp"

namespace rk = ringkernel;

namespace {

rk::Result<void> run() {
  RK_TRY(runtime, rk::RingKernelRuntime::builder().backend("native").build());
  RK_TRY_VOID(runtime.add_program(counter_program()));
  RK_TRY(kernel, runtime.launch("counter", {.program = "counter", .auto_activate = true}));
  RK_TRY(codec, rk::JsonCodec::open(counter_program().schema));
  RK_TRY(sum, rk::call_json(kernel, codec, "Add", R"({"by": 21})"));
  if (sum != R"({"value": 21})") return rk::Error(rk::Errc::internal, "another sum: " + sum);
  std::printf("%s: right in JSON\n", counter_program().name.c_str());
  return kernel.terminate();
}

}  // namespace

int main() {
  const rk::Result<void> result = run();
  if (!result) std::printf("%s\n", result.error().text().c_str());
  return result ? 0 : 1;
}
