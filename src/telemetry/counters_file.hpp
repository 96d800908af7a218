/// The layout of a counters file, drawn in docs/TELEMETRY.md. One version of this layout reads one
/// version of the file: another one is told apart by `version` and not looked at any further.
///
/// Threading: one writer per word, the publisher of the runtime; readers copy records (Sequenced).
/// The words of a StateRequest are those of whoever holds the file's lock (flock).
/// Memory ordering: `version` is stored last when a file is made; pairs with CountersReader::open.
/// The numbers of a request and its answer are stored behind what they are of.
/// Units: bytes; nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "foundation/histogram.hpp"
#include "foundation/sequenced.hpp"
#include "foundation/trace_log.hpp"
#include "ringkernel/limits.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel::telemetry {

inline constexpr std::uint64_t file_magic = 0x535245544e554f43u;  // "COUNTERS"
inline constexpr std::uint32_t file_version = 9;
inline constexpr const char* file_prefix = "runtime-";
inline constexpr const char* file_suffix = ".counters";

/// Messages in flight that a kernel's record names.
inline constexpr std::size_t calls_max = 16;

struct RuntimeRecord {
  std::uint64_t published_ns;
  char name[runtime_name_length_max + 1];
  char backend[32];  // text ends with a zero, cut off where it is longer
  char device[128];
  char transfer[16];
#define RK_RUNTIME_METRIC(name, kind, help) std::uint64_t name;
#include "ringkernel/metrics.def"
};

struct KernelRecord {
  std::uint64_t in_use;  // number of the ring kernel, from 1 on; 0: the place is free
  std::uint64_t published_ns;
  std::uint64_t status;  // KernelStatus
  char id[kernel_id_length_max + 8];
  char program[72];
  char behaviour[72];
#define RK_KERNEL_METRIC(name, kind, help) std::uint64_t name;
#define RK_KERNEL_LATENCY(name, help) LatencySummary name;
#include "ringkernel/metrics.def"
  std::uint64_t call_count;       // at most calls_max
  CallInFlight calls[calls_max];  // those that wait longest, longest first
};

/// Methods that the file keeps; further ones are left out.
inline constexpr std::size_t method_lines_max = 4096;

struct MethodLine {
  std::uint64_t kernel;  // KernelRecord::in_use; 0: the place is free
  std::uint64_t id;      // MethodMetrics::id
  std::uint64_t answered;
  std::uint64_t faults;
  LatencySummary latency;
  char name[64];
};

struct ErrorLine {
  std::uint64_t count;  // 0: the place is free
  std::uint64_t first_ns;
  std::uint64_t last_ns;
  std::int64_t code;
  char kernel[kernel_id_length_max + 8];
  char text[192];
};

/// Events that the file keeps; a later one takes the place of the one so many before it.
inline constexpr std::size_t trace_events_max = 8192;
static_assert(trace_events_max >= TraceLog::capacity);
using TraceWords = std::array<std::uint64_t, sizeof(TraceEvent) / sizeof(std::uint64_t)>;

/// Asks for the state of a ring kernel (state_request.hpp).
struct StateRequest {
  std::uint64_t number;  // another one for each; of the answer, too
  std::uint64_t kernel;  // KernelRecord::in_use
};

struct StateAnswer {
  std::uint64_t number;
  std::int64_t code;    // of the error whose detail the text is; 0: it is the state
  std::uint64_t bytes;  // of the text
};
/// Of a state as JSON.
inline constexpr std::size_t state_text_max = std::size_t{256} << 10;

struct CountersFile {
  // The same in every version, so that each can tell whether another one's file is written to.
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t record_bytes;  // sizeof(CountersFile), which includes all records
  std::uint64_t process_id;
  std::uint64_t process_start;  // field 22 of /proc/PID/stat: an id is used again, the two are not
  std::uint64_t created_ns;
  std::uint64_t created_unix_ns;
  std::uint64_t period_ns;     // between publications
  std::uint64_t heartbeat_ns;  // of the last one
  // This version's own.
  std::uint64_t kernels_used;     // places that were ever used; those above are holes in the file
  std::uint64_t kernels_missing;  // ring kernels without a place, at the last publication
  std::uint64_t errors_used;      // places that were ever used
  std::uint64_t methods_used;     // likewise
  std::uint64_t trace_begun;      // events of the trace whose places may have changed
  std::uint64_t trace_ended;      // of these, those that are there
  std::uint64_t trace_missed;     // events that were left out
  StateRequest state_request;
  StateAnswer state_answer;
  Sequenced<RuntimeRecord> runtime;
  Sequenced<ErrorLine> errors[errors_max];
  Sequenced<KernelRecord> kernels[kernels_max];
  Sequenced<MethodLine> methods[method_lines_max];
  Histogram latencies[kernels_max];    // of the kernels at the same places: KernelMetrics::latency
  TraceWords trace[trace_events_max];  // each a TraceEvent
  char state_text[state_text_max];     // of the last answer
};
inline constexpr std::size_t common_bytes = offsetof(CountersFile, kernels_used);
// What the drawing says.
static_assert(offsetof(CountersFile, version) == 8 && common_bytes == 64 &&
              offsetof(CountersFile, runtime) == 192 && sizeof(CountersFile) == 43'729'984);

}  // namespace ringkernel::telemetry
