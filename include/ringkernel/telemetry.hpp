/// What is known about a ring kernel or a runtime at one moment. Units are in the names.
///
/// Threading: plain values. Each metric is whole; together they are no atomic snapshot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringkernel {

/// Where a ring kernel is in its life.
enum class KernelStatus : std::uint8_t {
  created,      ///< the id is reserved, the program is being built
  launched,     ///< ready; accepts messages, runs none
  active,       ///< runs messages
  deactivated,  ///< accepts messages, runs none
  terminating,
  terminated,
  failed,  ///< the device or the rings are unusable; only terminate is left
};

/// As the enumerator is called.
[[nodiscard]] const char* name(KernelStatus status) noexcept;

/// How long something took, to less than a hundredth (what took over an hour: as an hour). A
/// percentile is the shortest duration that so many per cent did not exceed; all zero: nothing was
/// measured.
struct LatencySummary {
  std::uint64_t count = 0;
  std::uint64_t sum_ns = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p90_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t p999_ns = 0;
  std::uint64_t max_ns = 0;
};

/// Of one method of a program with a schema.
struct MethodMetrics {
  std::string name;
  std::uint32_t id = 0;        ///< MethodInfo::id
  std::uint64_t answered = 0;  ///< requests that the device has answered
  std::uint64_t faults = 0;    ///< of these, with an error
  LatencySummary latency;      ///< from the submission until the answer was found; as below
};

/// Metrics of one ring kernel since it was launched; each is described in ringkernel/metrics.def.
/// What the device counts, it counts before the reply is there. With `dma` and `sliced` the metrics
/// of the executor are those of the copy agent that stands for it.
struct KernelMetrics {
  std::string id;
  std::string program;
  std::string behaviour;  ///< of the program's schema; empty: it has none
  KernelStatus status = KernelStatus::created;
#define RK_KERNEL_METRIC(name, kind, help) std::uint64_t name = 0;
#define RK_KERNEL_LATENCY(name, help) LatencySummary name;
#include "ringkernel/metrics.def"
  std::vector<MethodMetrics> methods;  ///< those that were called
};

/// A message that awaits its outcome.
struct CallInFlight {
  std::uint64_t message = 0;  ///< its id
  std::uint64_t age_ns = 0;   ///< to a few milliseconds
};

/// An error that a runtime has met, how often, and when; in the same kernel, the same code is the
/// same error.
struct ErrorRecord {
  std::string kernel;  ///< empty: none's
  int code = 0;        ///< of `Error::code`
  std::string text;    ///< Error::text(), of the last one
  std::uint64_t count = 0;
  std::uint64_t first_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint64_t last_ns = 0;
};

/// 1 - largest free block / all that is free; 0 if nothing is free or all of it is one block.
[[nodiscard]] constexpr double fragmentation_score(std::uint64_t free_bytes,
                                                   std::uint64_t largest_free_bytes) noexcept {
  if (free_bytes == 0) return 0;
  return 1 - static_cast<double>(largest_free_bytes) / static_cast<double>(free_bytes);
}

/// What `RingKernelRuntime::defragment` did.
struct Defragmentation {
  std::uint64_t tensors_moved = 0;
  std::uint64_t bytes_moved = 0;
  std::uint64_t tensors_in_use = 0;  ///< left where they are
  double fragmentation_score = 0;    ///< afterwards
};

/// Metrics of a runtime; each is described in ringkernel/metrics.def. What belongs to its device is
/// zero after `shutdown`.
struct RuntimeMetrics {
  /// Where other processes read these metrics (docs/TELEMETRY.md), and browsers do; empty if
  /// nowhere, and then why, unless the options say so.
  std::string telemetry_file;
  std::string http_address;
  std::string telemetry_failure;
  std::string name;  ///< RuntimeOptions::name
  std::string backend;
  std::string device;
  std::string transfer;
  double arena_fragmentation_score = 0;  ///< ringkernel::fragmentation_score
#define RK_RUNTIME_METRIC(name, kind, help) std::uint64_t name = 0;
#include "ringkernel/metrics.def"
};

}  // namespace ringkernel
