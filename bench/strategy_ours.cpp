// The strategies, each asked for by name, as a user of the public API would.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "ringkernel/ringkernel.hpp"
#include "strategy_cases.hpp"

namespace bench {
namespace {

namespace rk = ringkernel;
using namespace std::chrono_literals;

/// Asked for in the environment as well, which is read before a driver has been chosen: PoCL then
/// gets no threads that `sliced` has no use for.
rk::RingKernelRuntime open_with_strategy(rk::RuntimeOptions options, std::string_view strategy) {
  setenv("RINGKERNEL_TRANSFER", std::string(strategy).c_str(), 1);
  options.transfer = strategy == "zero_copy" ? rk::Transfer::zero_copy
                     : strategy == "dma"     ? rk::Transfer::dma
                                             : rk::Transfer::sliced;
  return rk::RingKernelRuntime::builder().backend("opencl").options(options).build().value();
}

/// Rings that hold a batch, up to 4 MiB: larger ones would only cost the caches more.
rk::Kernel launch_echo(rk::RingKernelRuntime& runtime, std::size_t bytes) {
  const auto ring = static_cast<std::uint32_t>(
      std::bit_ceil(std::clamp<std::size_t>(2 * batch_messages * bytes, 64 << 10, 4 << 20)));
  return runtime
      .launch("echo",
              {.program = "echo", .input_bytes = ring, .output_bytes = ring, .auto_activate = true})
      .value();
}

/// Some of the bytes: a look at all of them would leave the caches in another state.
void check_echo(const rk::Reply& reply, std::span<const std::byte> message) {
  const auto bytes = reply.bytes();
  constexpr std::size_t stamp_bytes = sizeof(std::uint64_t);
  if (bytes.size() != message.size() ||
      std::memcmp(bytes.data(), message.data(), stamp_bytes) != 0 ||
      std::memcmp(bytes.last(stamp_bytes).data(), message.last(stamp_bytes).data(), stamp_bytes) !=
          0)
    throw std::runtime_error("the echo differs");
}

}  // namespace

Measurement strategy_round_trip(std::string_view strategy, std::size_t bytes) {
  rk::RingKernelRuntime runtime = open_with_strategy(rk::RuntimeOptions::low_latency(), strategy);
  rk::Kernel kernel = launch_echo(runtime, bytes);
  std::vector<std::byte> message(bytes);
  Latencies latencies(strategy_limits);
  for (std::uint64_t number = 1; latencies.more(); ++number) {
    stamp(message, number);
    const Stopwatch watch;
    const rk::Result<rk::Reply> reply = kernel.call(message);
    latencies.add(watch.us());
    check_echo(reply.value(), message);
  }
  return latencies.result();
}

Measurement strategy_batch(std::string_view strategy, std::size_t bytes) {
  rk::RingKernelRuntime runtime =
      open_with_strategy(rk::RuntimeOptions::high_throughput(), strategy);
  rk::Kernel kernel = launch_echo(runtime, bytes);
  std::vector<std::vector<std::byte>> messages(batch_messages, std::vector<std::byte>(bytes));
  const std::vector<rk::Bytes> views(messages.begin(), messages.end());
  std::vector<rk::Result<rk::Reply>> replies(batch_messages);
  std::uint64_t number = 0;
  Rate rate(strategy_limits);
  while (rate.more()) {
    for (std::vector<std::byte>& message : messages) stamp(message, ++number);
    if (kernel.send_all(views).value() != batch_messages)
      throw std::runtime_error("a message was refused");
    for (std::size_t done = 0; done != batch_messages;) {
      const std::size_t count =
          kernel.receive_some(std::span(replies).first(batch_messages - done), 10s).value();
      for (std::size_t i = 0; i < count; ++i) check_echo(replies[i].value(), messages[done++]);
    }
    rate.add(batch_messages);
  }
  return rate.result();
}

}  // namespace bench
