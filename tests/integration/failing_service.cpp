// A service whose device takes no more work: fault_layer.cpp stands between it and the driver.
// Prints the states of its kernel as they are told.
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "ringkernel/ringkernel.hpp"
#include "support/device_faults.hpp"

int main() {
  namespace rk = ringkernel;
  using namespace std::chrono_literals;
  ringkernel::test::plan_faults("none:0");
  auto runtime = rk::RingKernelRuntime::builder()
                     .backend("opencl")
                     .options({.park_after = 1us, .telemetry_period = 1ms})
                     .build()
                     .value();
  rk::EventStream events = runtime.events();
  auto kernel = runtime.launch("worker", {.program = "echo", .auto_activate = true}).value();
  const std::vector<std::byte> message(64);
  ringkernel::test::plan_faults("launch:all");
  while (kernel.call(message)) {  // while the last slice is still there
  }
  for (;;) {
    const rk::Event event = events.async_next(boost::asio::use_future).get();
    if (!event.status) continue;
    std::printf("%s\n", rk::name(*event.status));
    if (*event.status == rk::KernelStatus::failed) (void)kernel.terminate();
    if (*event.status == rk::KernelStatus::terminated) return 0;
  }
}
