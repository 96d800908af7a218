/// Options of runtimes, ring kernels and single messages; made for designated initialisers.
///
/// Threading: plain values.
/// Units: bytes, std::chrono durations, counts of messages; as the names say.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "ringkernel/limits.hpp"

namespace ringkernel {

/// Which kind of device executes. A target that cannot be served is E6002; nothing falls back.
enum class BackendTarget : std::uint8_t {
  automatic,  ///< a GPU that passes the self-test, else the host by the native backend
  cpu,        ///< the host by the native backend; by OpenCL where that backend is named
  gpu,
};

/// How bytes reach the device (docs/ARCHITECTURE.md). One that the device cannot serve is E6002.
enum class Transfer : std::uint8_t {
  automatic,  ///< the first of the others that its self-test confirms; $RINGKERNEL_TRANSFER if set
  zero_copy,  ///< host and device work on the same memory
  dma,        ///< copies beside the running kernel
  sliced,     ///< copies between bounded runs of the kernel
};

/// What happens to a message for which there is no room: neither in the ring nor on the host, or
/// all `in_flight_max` places are taken. The answer is the policy's, whichever it is that is full.
enum class Backpressure : std::uint8_t {
  block,   ///< the sender waits, up to its timeout
  reject,  ///< queue_full at once
  /// Of the messages still queued on the host the oldest of the lowest priority ends with
  /// message_dropped. Where that would make no room, the message itself is refused with
  /// message_dropped: none is queued, all have a higher priority, or no place in flight is free,
  /// which a dropped one keeps until its end has been received.
  drop_oldest,
  drop_newest,  ///< the message itself is refused with message_dropped
};

/// Of one ring kernel.
struct KernelOptions {
  std::string program = "core";  ///< "core" (ops), "echo", or one that was added
  std::string behaviour = {};    ///< of a program with a schema; may be empty where it has one
  std::uint32_t input_bytes =
      256 * 1024;  ///< ring data; power of two; a message takes at most half
  std::uint32_t output_bytes = 256 * 1024;  ///< likewise
  std::uint32_t in_flight_max = 1024;  ///< messages accepted and not yet taken by their receiver
  std::uint32_t queue_max = 256;       ///< of these, waiting on the host while the ring is full
  Backpressure backpressure = Backpressure::block;
  bool auto_activate = false;

  /// Never loses, blocks when full; sized for steady services.
  [[nodiscard]] static KernelOptions production() { return {}; }
  /// Small and impatient: a full queue is an answer.
  [[nodiscard]] static KernelOptions low_latency() {
    return {.input_bytes = 64 * 1024,
            .output_bytes = 64 * 1024,
            .in_flight_max = 256,
            .queue_max = 0,
            .backpressure = Backpressure::reject};
  }
  /// Deep rings for pipelined senders.
  [[nodiscard]] static KernelOptions high_throughput() {
    return {.input_bytes = 1024 * 1024,
            .output_bytes = 1024 * 1024,
            .in_flight_max = 16384,
            .queue_max = 4096};
  }
};

/// Of one runtime.
struct RuntimeOptions {
  /// What rkstat, metrics and the log call it, in this process and the next: UTF-8 without
  /// controls, of at most `runtime_name_length_max` bytes. Empty: "PID/NUMBER".
  std::string name = {};
  /// The one device-visible allocation: rings, control blocks, tensors. More than the device
  /// allocates at once is limit_exceeded; more than memory and swap of the host is
  /// allocation_failure on the native backend. A container's limit is not looked at: it holds when
  /// memory is used.
  std::uint64_t arena_bytes = 128ull * 1024 * 1024;
  /// Ring kernels per program; a multiple of 16, at most `kernels_max`.
  std::uint32_t kernels_per_program = kernels_max;
  /// Without a message for about this long an executor leaves the device; the next one relaunches
  /// it.
  std::chrono::nanoseconds park_after = std::chrono::milliseconds(2);
  Transfer transfer = Transfer::automatic;
  /// `sliced` only: about how long one run of a kernel may keep the others, and copies, waiting. It
  /// ends between two turns of an op (`turn_for`); other ops and handlers are not interrupted.
  std::chrono::nanoseconds slice_for = std::chrono::milliseconds(2);
  /// About how long a product, a convolution, a graph or another op in steps goes on before the
  /// other ring kernels of its work-group have their turn (docs/OPS.md). Zero: to its end; a
  /// nanosecond: one step, which is slow and for tests, as is $RINGKERNEL_TURN_STEPS=1.
  std::chrono::nanoseconds turn_for = std::chrono::microseconds(200);
  /// How long a waiting thread polls before it sleeps; and an idle executor, on the host's own
  /// cores, before it gives its core to whoever wants it, again and again until it leaves. Few
  /// microseconds where more programs are busy than there are cores.
  std::chrono::nanoseconds spin_for = std::chrono::microseconds(50);
  /// Messages taken from one ring before the next ring has its turn.
  std::uint32_t drain_records_max = 16;
  /// Work-groups of each executor, among which its ring kernels are divided; each keeps a compute
  /// unit busy. Zero: one on a CPU, which serves millions of messages a second; on a GPU as many as
  /// stay resident together, up to 16. More than the device keeps resident is limit_exceeded.
  std::uint32_t work_groups = 0;
  /// Whether other processes of this user can read what the runtime does (docs/TELEMETRY.md), and
  /// how often that is brought up to date, by the service thread: from every millisecond to every
  /// hour. $RINGKERNEL_TELEMETRY=0: no; any other than 0 and 1 is an error.
  bool telemetry = true;
  std::chrono::nanoseconds telemetry_period = std::chrono::milliseconds(100);
  /// With telemetry, one message in so many, picked at random, has its times taken, which costs it
  /// about 100 ns; fewer of dense traffic, some ten thousand a second of each ring kernel; 1: all;
  /// 0: none, and no ages of calls in flight.
  std::uint32_t latency_sampling = 64;
  /// With telemetry, where an HTTP server shows it (docs/TELEMETRY.md): "9464" or "localhost:9464"
  /// for this machine only, "0.0.0.0:9464" or "[::]:9464" for everybody; port 0: any, which
  /// RuntimeMetrics::http_address tells. Empty: $RINGKERNEL_HTTP, and if that is empty, no server.
  std::string http_address = {};
  /// Default timeouts.
  std::chrono::nanoseconds call_timeout = std::chrono::seconds(30);
  /// How long a `send` without a timeout of its own waits for room (`Backpressure::block`): then
  /// queue_full, with what takes the room; mostly answers that nobody receives. Zero: for ever.
  std::chrono::nanoseconds send_timeout = std::chrono::seconds(30);
  std::chrono::nanoseconds termination_timeout = std::chrono::seconds(5);
  /// How long whoever has no other timeout waits for a driver: to open a device, to build a
  /// program. Then E6007, with the driver's call that has not come back.
  std::chrono::nanoseconds driver_timeout = std::chrono::minutes(5);
  /// What `get_or_compile` remembers at most: functions, and bytes of the arena that they occupy.
  std::uint32_t functions_cached_max = 64;
  std::uint64_t function_cache_bytes_max = 32ull * 1024 * 1024;

  /// The defaults.
  [[nodiscard]] static RuntimeOptions production() { return {}; }
  /// Stays on the device through pauses of the traffic; costs a core for that long.
  [[nodiscard]] static RuntimeOptions low_latency() {
    return {.park_after = std::chrono::milliseconds(50),
            .spin_for = std::chrono::microseconds(500),
            .drain_records_max = 4};
  }
  /// Takes more of one ring at a time, and more memory.
  [[nodiscard]] static RuntimeOptions high_throughput() {
    return {.arena_bytes = 512ull * 1024 * 1024,
            .spin_for = std::chrono::microseconds(500),
            .drain_records_max = 64};
  }
};

/// Of one `send` or `call`.
struct SendOptions {
  /// Zero: the runtime's `call_timeout` for calls; for sends no deadline, but no more than its
  /// `send_timeout` until there is room (queue_full). A message whose time is
  /// up ends with deadline_exceeded, and is not executed if it is still queued on the host; one
  /// whose time was up before (less than zero) is not accepted. On the native backend a calling
  /// thread may run the op itself, and then returns with its reply, however long that takes, unless
  /// this is not zero and the op works in steps (docs/OPS.md, "Turns"): those it gives up.
  std::chrono::nanoseconds timeout{0};
  /// Higher goes first among the messages still queued on the host.
  std::int32_t priority = 0;
};

/// Of one `terminate`.
struct TerminateOptions {
  /// Processes what is queued first (an active kernel only).
  bool drain = false;
  /// Zero: the runtime's `termination_timeout`. Then it is over with execution_timeout, and the
  /// rings stay with the device until it lets go.
  std::chrono::nanoseconds timeout{0};
};

/// Work-groups and work-items that work on one message together.
struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

}  // namespace ringkernel
