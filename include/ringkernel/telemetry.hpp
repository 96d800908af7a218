/// What is known about a ring kernel or a runtime at one moment. Units are in the names.
///
/// Threading: plain values. Each figure is whole; together they are no atomic snapshot.
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

/// The metrics of one ring kernel; counters only grow.
struct KernelMetrics {
  std::string id;
  std::string program;
  std::string behaviour;              ///< of the program's schema; empty: it has none
  std::uint64_t program_version = 0;  ///< ProgramInfo::version: 1 more for each swap
  KernelStatus status = KernelStatus::created;
  // Counted by the device, each message before its reply is there.
  std::uint64_t messages_in = 0;
  std::uint64_t messages_out = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t faults = 0;
  std::uint64_t backpressure_count = 0;
  // Counted by the host.
  std::uint64_t accepted = 0;  ///< messages with an id
  std::uint64_t replied = 0;   ///< of these, ended with a reply
  std::uint64_t failed = 0;    ///< of these, ended with an error
  std::uint64_t late = 0;      ///< replies to messages that had ended
  std::uint64_t dropped = 0;   ///< by policy
  std::uint64_t expired = 0;   ///< by deadline
  std::uint64_t cancelled = 0;
  std::uint64_t queued = 0;         ///< at this moment on the host
  std::uint64_t in_flight = 0;      ///< at this moment accepted and not taken by a receiver
  std::uint64_t in_flight_max = 0;  ///< as launched
  std::uint64_t unreceived = 0;     ///< of those in flight, answered and waiting for a `receive`
  // Of the executor of its program; with `dma` and `sliced`, of the mover that stands for it.
  std::uint64_t slices = 0;    ///< dispatches
  std::uint64_t parks = 0;     ///< of these, ended for the kernel's work-group
  std::uint64_t wake_ups = 0;  ///< of these, started because of a message of this kernel
  // With `dma` and `sliced`, between host and device for this kernel alone.
  std::uint64_t copies = 0;        ///< of its records, ring positions and states
  std::uint64_t copied_bytes = 0;  ///< of these
  // At this moment; zero once the kernel has ended.
  std::uint64_t input_ring_position = 0;  ///< bytes ever published, padding included
  std::uint64_t input_ring_bytes = 0;     ///< capacity
  std::uint64_t input_ring_used_bytes = 0;
  std::uint64_t output_ring_position = 0;  ///< bytes ever published, padding included
  std::uint64_t output_ring_bytes = 0;     ///< capacity
  std::uint64_t output_ring_used_bytes = 0;
  /// Since the message that has waited longest for its outcome was accepted, to a few milliseconds;
  /// 0: none does, or no times are taken.
  std::uint64_t oldest_call_age_ns = 0;
  // Of messages that the device has answered, one in RuntimeOptions::latency_sampling.
  LatencySummary latency;     ///< from the submission until the receiver had the answer; of this:
  LatencySummary host_queue;  ///< until there was room for it in the input ring
  LatencySummary device;      ///< until the reply was found in the output ring
  LatencySummary to_device;   ///< of this, until the executor took it; `count` 0: nobody knows
  LatencySummary executor;    ///< until the executor had answered; likewise
  LatencySummary to_host;     ///< until the reply was found; likewise
  LatencySummary delivery;    ///< until the receiver had it
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

/// The metrics of a runtime, its gone ring kernels included; counters only grow.
struct RuntimeMetrics {
  /// Where other processes read these figures (docs/TELEMETRY.md), and browsers do; empty if
  /// nowhere, and then why, unless the options say so.
  std::string telemetry_file;
  std::string http_address;
  std::string telemetry_failure;
  std::string name;  ///< RuntimeOptions::name
  std::string backend;
  std::string device;
  std::string transfer;
  std::uint64_t kernels = 0;
  std::uint64_t executors = 0;
  std::uint64_t slices = 0;       ///< dispatches of executors so far
  std::uint32_t work_groups = 1;  ///< of each executor
  // With `dma` and `sliced`: copies of requests, replies, counters and what goes with them.
  std::uint64_t copies = 0;
  std::uint64_t copied_bytes = 0;
  std::uint64_t arena_bytes = 0;
  std::uint64_t arena_free_bytes = 0;
  std::uint64_t arena_largest_free_bytes = 0;
  double arena_fragmentation_score = 0;  ///< ringkernel::fragmentation_score
  std::uint64_t tensors = 0;  ///< resident ones, those included that a message in flight still uses
  std::uint64_t tensor_bytes = 0;
  std::uint64_t functions_cached = 0;      ///< at this moment, by `get_or_compile`
  std::uint64_t function_cache_bytes = 0;  ///< of the arena, that these occupy
  std::uint64_t function_cache_hits = 0;
  std::uint64_t function_cache_misses = 0;
  std::uint64_t function_cache_evictions = 0;
  // Of this runtime's device; zero where nothing is kept on disk, and after `shutdown`.
  std::uint64_t program_cache_hits = 0;      ///< programs taken from the disk
  std::uint64_t program_cache_misses = 0;    ///< not there, and built
  std::uint64_t program_cache_rejected = 0;  ///< there, not to be trusted, and built
  /// One message in so many is timed; 0: no times and no ages of calls in flight are taken.
  std::uint64_t latency_sampling = 0;
  std::uint64_t errors = 0;          ///< of all kinds; RingKernelRuntime::errors
  std::uint64_t errors_missing = 0;  ///< of these, of kinds that found no place any more
};

}  // namespace ringkernel
