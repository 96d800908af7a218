// Four programs on one device, talked to at the same time, one of them without a pause. Prints what
// went wrong; ends with 0 if nothing did. Arguments: transfer strategy, or "automatic", and how
// many calls of each.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ringkernel/ringkernel.hpp"

namespace {

using namespace ringkernel;
using namespace std::chrono_literals;

std::atomic<int> failures = 0;

void complain(const std::string& what) {
  ++failures;
  std::cout << what << '\n';
}

Transfer transfer_of(std::string_view name) {
  if (name == "zero_copy") return Transfer::zero_copy;
  if (name == "dma") return Transfer::dma;
  return name == "sliced" ? Transfer::sliced : Transfer::automatic;
}

/// Keeps the kernel's ring full until it is told to stop.
void flood(Kernel kernel, const std::atomic<bool>& stop) {
  const std::vector<std::byte> message(64, std::byte{1});
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  while (!stop || received < sent) {
    while (!stop && sent < received + 64 && kernel.send(message)) ++sent;
    const auto reply = kernel.receive(60s);
    if (!reply) return complain("the flood: " + reply.error().text());
    ++received;
  }
}

void call_ops(Kernel kernel, int calls) {
  const std::array a{1.0f, 2.0f};
  for (int i = 0; i < calls; ++i) {
    const auto reply = kernel.call(ops::add(a, a), 60s);
    if (!reply) return complain("an op: " + reply.error().text());
    if (reply->floats()[1] != 4.0f) return complain("a wrong sum");
  }
}

void call_echo(Kernel kernel, int calls) {
  const std::vector<std::byte> message(64, std::byte{7});
  for (int i = 0; i < calls; ++i) {
    const auto reply = kernel.call(message, 60s);
    if (!reply) return complain("an echo: " + reply.error().text());
    if (reply->bytes()[63] != std::byte{7}) return complain("a wrong echo");
  }
}

}  // namespace

int main(int, char** argv) {
  const int calls = std::atoi(argv[2]);
  // A slice that nobody asks to leave would stay for ten minutes.
  const RuntimeOptions options{
      .arena_bytes = 8 << 20, .park_after = 10min, .transfer = transfer_of(argv[1])};
  std::vector<RingKernelRuntime> runtimes;
  std::vector<Kernel> kernels;
  for (int i = 0; i < 2; ++i) {
    auto runtime = RingKernelRuntime::builder().backend("opencl").options(options).build();
    if (!runtime) {
      complain(runtime.error().text());
      return 1;
    }
    for (const char* program : {"core", "echo"}) {
      auto kernel = runtime->launch(program, {.program = program, .auto_activate = true});
      if (!kernel) {
        complain(kernel.error().text());
        return 1;
      }
      kernels.push_back(*kernel);
    }
    runtimes.push_back(std::move(*runtime));
  }
  std::cout << runtimes[0].metrics().transfer << '\n';
  std::atomic<bool> stop = false;
  std::thread flooding([&] { flood(kernels[1], stop); });
  std::vector<std::thread> callers;
  callers.emplace_back(call_ops, kernels[0], calls);
  callers.emplace_back(call_ops, kernels[2], calls);
  callers.emplace_back(call_echo, kernels[3], calls);
  for (std::thread& caller : callers) caller.join();
  stop = true;
  flooding.join();
  return failures == 0 ? 0 : 1;
}
