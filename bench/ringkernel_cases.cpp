// Our side of the figures, written as a user of the public API would write it.
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cases.hpp"
#include "ringkernel/ringkernel.hpp"

namespace bench {
namespace {

namespace asio = boost::asio;
namespace rk = ringkernel;
using namespace std::chrono_literals;

rk::RingKernelRuntime open_runtime(const rk::RuntimeOptions& options = {},
                                   const char* backend = "opencl") {
  return rk::RingKernelRuntime::builder().backend(backend).options(options).build().value();
}

rk::Kernel launch_active(rk::RingKernelRuntime& runtime, const std::string& id,
                         rk::KernelOptions options = {}) {
  options.auto_activate = true;
  return runtime.launch(id, options).value();
}

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

/// Two operands, and the sum that they must give.
template <std::size_t count>
struct Addition {
  std::array<float, count> a{};
  std::array<float, count> b{};
  std::array<float, count> sum{};

  Addition() {
    for (std::size_t i = 0; i < count; ++i) {
      a[i] = static_cast<float>(i);
      b[i] = static_cast<float>(2 * i + 1);
      sum[i] = a[i] + b[i];
    }
  }
  /// Other numbers for the next request.
  void vary() {
    a[0] += 1;
    if (a[0] > 1000) a[0] = 0;
    sum[0] = a[0] + b[0];
  }
  /// Cheap, because a pipeline's figure contains it.
  void check(const rk::Reply& reply) const { check(reply.floats()); }
  void check(std::span<const float> got) const {
    require(got.size() == count, "the reply has the wrong size");
    require(std::memcmp(got.data(), sum.data(), sizeof(sum)) == 0, "wrong sum");
  }
};

/// The timed section is what a user writes; the sum is checked outside of it.
Measurement time_calls(rk::Kernel kernel) {
  Addition<16> operands;
  Latencies latencies;
  while (latencies.more()) {
    operands.vary();
    const Stopwatch watch;
    const rk::Result<rk::Reply> reply = kernel.call(rk::ops::add(operands.a, operands.b));
    require(reply.has_value(), "the call failed");
    latencies.add(watch.us());
    operands.check(*reply);
  }
  return latencies.result();
}

/// The same with a request that was prepared.
Measurement time_prepared_calls(rk::Kernel kernel) {
  Addition<16> operands;
  rk::PreparedCall add = kernel.prepare(rk::ops::add(operands.a, operands.b)).value();
  Latencies latencies;
  while (latencies.more()) {
    operands.vary();
    const Stopwatch watch;
    const rk::Result<rk::ResultView> sum = add.call({operands.a, operands.b});
    require(sum.has_value(), "the call failed");
    latencies.add(watch.us());
    operands.check(sum->elements<float>());
  }
  return latencies.result();
}

/// Nanoseconds of one call in a block of them, the change of an operand and the look at the sum
/// included: the clock would be a fifth of what is measured. `call(operands)` makes one.
template <class Call>
Measurement time_blocks(Call&& call) {
  constexpr int calls = 100;
  Addition<16> operands;
  Latencies latencies;
  while (latencies.more()) {
    const Stopwatch watch;
    for (int i = 0; i < calls; ++i) {
      operands.vary();
      call(operands);
    }
    latencies.add(watch.us() * 1000 / calls);
  }
  return latencies.result();
}

/// Sends `window` messages to each kernel ahead, then takes replies and sends the next in turn.
/// `send(kernel)` sends `window` messages; `check(reply)` looks at one reply.
template <class Send, class Check>
Measurement pipeline(std::vector<rk::Kernel>& kernels, std::size_t window, Send send, Check check) {
  std::vector<rk::Result<rk::Reply>> replies(window);
  const auto receive = [&](rk::Kernel& kernel) {
    for (std::size_t left = window; left != 0;) {
      const std::size_t count = kernel.receive_some(std::span(replies).first(left), 10s).value();
      for (std::size_t i = 0; i < count; ++i) check(replies[i].value());
      left -= count;
    }
  };
  for (rk::Kernel& kernel : kernels) send(kernel);
  Rate rate;
  while (rate.more()) {
    for (rk::Kernel& kernel : kernels) {
      receive(kernel);
      send(kernel);
    }
    rate.add(kernels.size() * window);
  }
  Measurement measurement = rate.result();
  for (rk::Kernel& kernel : kernels) receive(kernel);
  return measurement;
}

Measurement vadd1k_on(const char* backend) {
  rk::RingKernelRuntime runtime = open_runtime(rk::RuntimeOptions::high_throughput(), backend);
  std::vector<rk::Kernel> kernels = {
      launch_active(runtime, "adder", rk::KernelOptions::high_throughput())};
  const Addition<256> operands;
  constexpr std::size_t window = 32;
  const std::vector<rk::Request> requests(window, rk::ops::add(operands.a, operands.b));
  return pipeline(
      kernels, window,
      [&](rk::Kernel& kernel) {
        require(kernel.send_all(requests).value() == window, "a message was refused");
      },
      [&](const rk::Reply& reply) { operands.check(reply); });
}

}  // namespace

Measurement call_add16() {
  rk::RingKernelRuntime runtime = open_runtime(rk::RuntimeOptions::low_latency());
  return time_calls(launch_active(runtime, "adder", rk::KernelOptions::low_latency()));
}

Measurement prepared_add16() {
  rk::RingKernelRuntime runtime = open_runtime(rk::RuntimeOptions::low_latency());
  return time_prepared_calls(launch_active(runtime, "adder", rk::KernelOptions::low_latency()));
}

Measurement native_call_block() {
  rk::RingKernelRuntime runtime = open_runtime(rk::RuntimeOptions::low_latency(), "native");
  rk::Kernel kernel = launch_active(runtime, "adder", rk::KernelOptions::low_latency());
  return time_blocks([&](const Addition<16>& operands) {
    operands.check(kernel.call(rk::ops::add(operands.a, operands.b)).value());
  });
}

Measurement native_prepared_block() {
  rk::RingKernelRuntime runtime = open_runtime(rk::RuntimeOptions::low_latency(), "native");
  rk::Kernel kernel = launch_active(runtime, "adder", rk::KernelOptions::low_latency());
  const Addition<16> kind;
  rk::PreparedCall add = kernel.prepare(rk::ops::add(kind.a, kind.b)).value();
  return time_blocks([&](const Addition<16>& operands) {
    operands.check(add.call({operands.a, operands.b}).value().elements<float>());
  });
}

Measurement native_call_add16() {
  rk::RingKernelRuntime runtime = open_runtime(rk::RuntimeOptions::low_latency(), "native");
  return time_calls(launch_active(runtime, "adder", rk::KernelOptions::low_latency()));
}

Measurement echo64_pipelined() {
  rk::RingKernelRuntime runtime = open_runtime(rk::RuntimeOptions::high_throughput());
  std::vector<rk::Kernel> kernels;
  for (int i = 0; i < 64; ++i)
    kernels.push_back(launch_active(runtime, "echo" + std::to_string(i), {.program = "echo"}));
  // The first eight bytes number the message; each kernel answers in order.
  using Message = std::array<std::uint64_t, 8>;
  constexpr std::size_t window = 16;
  std::array<Message, window> messages{};
  std::array<rk::Bytes, window> views;
  for (std::size_t i = 0; i < window; ++i) {
    messages[i][0] = i;
    views[i] = std::as_bytes(std::span(messages[i]));
  }
  std::uint64_t expected = 0;
  return pipeline(
      kernels, window,
      [&](rk::Kernel& kernel) {
        require(kernel.send_all(views).value() == window, "a message was refused");
        for (Message& message : messages) message[0] += window;
      },
      [&](const rk::Reply& reply) {
        require(reply.bytes().size() == sizeof(Message), "the echo has the wrong size");
        require(*reinterpret_cast<const std::uint64_t*>(reply.bytes().data()) == expected++,
                "lost or reordered");
      });
}

Measurement vadd1k_pipelined() { return vadd1k_on("opencl"); }

Measurement native_vadd1k_pipelined() { return vadd1k_on("native"); }

Measurement echo64k() {
  rk::RingKernelRuntime runtime = open_runtime(rk::RuntimeOptions::low_latency());
  rk::Kernel kernel = launch_active(runtime, "echo", {.program = "echo"});
  std::vector<std::byte> message(64 * 1024);
  Latencies latencies;
  for (unsigned turn = 0; latencies.more(); ++turn) {
    message[turn % message.size()] ^= std::byte{1};
    const Stopwatch watch;
    const rk::Result<rk::Reply> reply = kernel.call(message);
    require(reply.has_value(), "the call failed");
    latencies.add(watch.us());
    // Some of the bytes: a look at all of them would leave the caches in another state.
    const auto bytes = reply->bytes();
    require(bytes.size() == message.size() && bytes.front() == message.front() &&
                bytes.back() == message.back() &&
                bytes[turn % message.size()] == message[turn % message.size()],
            "the echo differs");
  }
  return latencies.result();
}

Measurement async_call_add16() {
  rk::RingKernelRuntime runtime = open_runtime(rk::RuntimeOptions::low_latency());
  rk::Kernel kernel = launch_active(runtime, "adder", rk::KernelOptions::low_latency());
  asio::io_context io_context(1);
  Latencies latencies;
  const auto service = [&]() -> asio::awaitable<void> {
    Addition<16> operands;
    while (latencies.more()) {
      operands.vary();
      const Stopwatch watch;
      const rk::Reply reply =
          co_await kernel.async_call(rk::ops::add(operands.a, operands.b), asio::use_awaitable);
      latencies.add(watch.us());
      operands.check(reply);
    }
  };
  asio::co_spawn(io_context, service(), [](const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io_context.run();
  return latencies.result();
}

Measurement idle_cpu() {
  rk::RingKernelRuntime runtime = open_runtime();
  std::vector<rk::Kernel> kernels;
  for (int i = 0; i < 8; ++i) kernels.push_back(launch_active(runtime, std::to_string(i)));
  const Addition<16> operands;
  for (int i = 0; i < 1000; ++i)
    operands.check(kernels[static_cast<std::size_t>(i) % kernels.size()]
                       .call(rk::ops::add(operands.a, operands.b))
                       .value());
  std::this_thread::sleep_for(1s);
  const Stopwatch watch;
  const double start = cpu_seconds();
  std::this_thread::sleep_for(1s);
  const double percent = (cpu_seconds() - start) / (watch.us() * 1e-6) * 100;
  return summarize({percent}, Better::lower);
}

Measurement wake() {
  rk::RingKernelRuntime runtime = open_runtime();
  rk::Kernel kernel = launch_active(runtime, "adder");
  Addition<16> operands;
  Latencies latencies({.warm_up = 100ms, .duration = 10s, .samples_max = 50});
  while (latencies.more()) {
    operands.vary();
    std::this_thread::sleep_for(10 * rk::RuntimeOptions().park_after);
    const std::uint64_t slices = runtime.metrics().slices;
    const Stopwatch watch;
    const rk::Result<rk::Reply> reply = kernel.call(rk::ops::add(operands.a, operands.b));
    const double us = watch.us();
    operands.check(reply.value());
    // A further slice proves that the executor had left the device.
    if (runtime.metrics().slices != slices) latencies.add(us);
  }
  return latencies.result();
}

Measurement launch_activate() {
  rk::RingKernelRuntime runtime = open_runtime();
  rk::Kernel resident = launch_active(runtime, "resident");
  const Addition<16> operands;
  const auto call = [&](rk::Kernel& kernel) {
    operands.check(kernel.call(rk::ops::add(operands.a, operands.b)).value());
  };
  Latencies latencies({.samples_max = 20'000});
  while (latencies.more()) {
    call(resident);  // keeps the executor on the device
    const std::uint64_t slices = runtime.metrics().slices;
    const Stopwatch watch;
    rk::Kernel kernel = runtime.launch("another").value();
    kernel.activate().value();
    const double us = watch.us();
    call(kernel);
    // No slice began: the executor was resident all the time.
    if (runtime.metrics().slices == slices) latencies.add(us);
    kernel.terminate().value();
  }
  return latencies.result();
}

}  // namespace bench
