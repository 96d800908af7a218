/// Runtimes that publish into a folder of the test's own, and rkstat that looks there.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bridge/tick_clock.hpp"
#include "ringkernel/ringkernel.hpp"
#include "support/backends.hpp"
#include "support/environment.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::test {

/// Runtimes whose files lie in a folder of the test's own.
class Publishing : public OnEachBackend {
 protected:
  /// Every millisecond, with the times of every message.
  static RuntimeOptions often() {
    return {.telemetry_period = std::chrono::milliseconds(1), .latency_sampling = 1};
  }

  [[nodiscard]] testing::ChildResult rkstat(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {RK_RKSTAT, "--root", root().string()});
    return testing::run_child(arguments, {});
  }
  [[nodiscard]] boost::json::object rkstat_json() const {
    return boost::json::parse(rkstat({"--json"}).output).as_object();
  }
  [[nodiscard]] std::filesystem::path root() const { return folder_.path() / "ringkernel"; }

  /// Whether the executor's share of the times is known: slices run in threads of this process, and
  /// Linux counts by the processor's ticks.
  static bool has_device_clock(const RingKernelRuntime& runtime) {
    bridge::TickClock clock;
    clock.start();
    const RuntimeMetrics metrics = runtime.metrics();
    return clock.ns_of_ticks(std::uint64_t{1} << 62) != 0 &&
           (is_of_host_threads(metrics.backend) || metrics.device.starts_with("pthread") ||
            metrics.device.starts_with("cpu"));  // PoCL, before and since it has renamed it
  }

  /// Publications bring `condition` about sooner or later.
  static bool await(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

 private:
  testing::TempFolder folder_;
  testing::Variable variable_{"XDG_RUNTIME_DIR", folder_.path().string()};
};

}  // namespace ringkernel::test
