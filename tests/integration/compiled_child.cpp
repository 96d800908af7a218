// Runs the program of the tests natively, and prints every byte that it answers.
//   compiled_child N    with the builds that are part of this executable, without the N best
//   compiled_child      without any
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ringkernel/backend_abi.h"
#include "ringkernel/ringkernel.hpp"
#include "ringkernel/typed.hpp"
#include "shop_generated.h"
#include "shop_program.hpp"
#include "support/registry.hpp"

namespace rk = ringkernel;

namespace {

/// A purchase of `lines` lines, with prices whose sums are rounded.
rk::Result<rk::Reply> buy(rk::Kernel& kernel, std::uint32_t lines) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<shop::Line> bought;
  for (std::uint32_t i = 0; i < lines; ++i)
    bought.emplace_back(1.0f / static_cast<float>(i + 3), 7 * i + 1);
  builder.Finish(shop::CreatePurchaseDirect(builder, lines, &bought, lines % 2 == 0 ? "c" : ""));
  return kernel.call("Buy", rk::typed<shop::Purchase>(builder).bytes);
}

/// `skipped` < 0: without any.
rk::Result<void> run(int skipped) {
  RK_TRY(runtime,
         rk::RingKernelRuntime::builder().backend(ringkernel::test::host_backend()).build());
  rk::ProgramDesc program = shop_program();
  if (skipped < 0) program.compiled = nullptr;
  for (int i = 0; i < skipped && program.compiled[1].query != nullptr; ++i) ++program.compiled;
  RK_TRY_VOID(runtime.add_program(program));
  RK_TRY(kernel, runtime.launch("till", {.program = "shop", .behaviour = "Till"}));
  RK_TRY_VOID(kernel.activate());
  std::printf("replies ");
  for (std::uint32_t lines = 0; lines < 40; ++lines) {
    const auto reply = buy(kernel, lines);
    if (!reply) {
      std::printf("%s\n", reply.error().text().c_str());
      continue;
    }
    for (const std::byte byte : reply->bytes()) std::printf("%02x", static_cast<unsigned>(byte));
    std::printf("\n");
  }
  return kernel.terminate();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const rk::Result<void> result = run(argument_count > 1 ? std::atoi(arguments[1]) : -1);
  if (!result) std::printf("%s\n", result.error().text().c_str());
  return result ? 0 : 1;
}
