// A service that dies: five calls, three messages that nobody receives, and no goodbye.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "ringkernel/ringkernel.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/latency.hpp"

int main(int argument_count, char** arguments) {
  namespace rk = ringkernel;
  using namespace std::chrono_literals;
  if (argument_count != 2) return 2;
  auto runtime = rk::RingKernelRuntime::builder()
                     .backend(arguments[1])
                     .options({.telemetry_period = 1ms, .latency_sampling = 1})
                     .build()
                     .value();
  auto kernel = runtime.launch("worker", {.program = "echo", .auto_activate = true}).value();
  const std::vector<std::byte> message(64);
  for (int i = 0; i < 5; ++i) (void)kernel.call(message).value();
  const auto reader = rk::telemetry::CountersReader::open(runtime.metrics().telemetry_file).value();
  for (int i = 0; i < 3; ++i) (void)kernel.send(message).value();
  for (;;) {
    const auto kernels = reader.kernels();
    if (!kernels.empty() && kernels[0].metrics.messages_out == 8 &&
        kernels[0].metrics.in_flight == 3 && kernels[0].metrics.replied == 5 &&
        kernels[0].metrics.latency.count == 5) {
      const auto latency = reader.latency(kernels[0]);  // published behind the others
      std::uint64_t from = 0;
      const auto is_message = [](const rk::TraceEvent& event) {
        return event.kind == rk::TraceKind::message;
      };
      if (latency && rk::telemetry::summarize(*latency).count == 5 &&
          // One that came while another event was noted was left out.
          std::ranges::count_if(reader.trace(from), is_message) +
                  static_cast<std::int64_t>(reader.trace_missed()) >=
              5)
        break;
    }
    std::this_thread::sleep_for(1ms);
  }
  kill(getpid(), SIGKILL);
}
