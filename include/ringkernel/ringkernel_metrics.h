/// Figures of ring kernels and runtimes for C: the same that rkstat, the live page and Prometheus
/// show (docs/TELEMETRY.md).
///
///     ringkernel_kernel_figures figures = {.struct_size = sizeof figures};
///     ringkernel_kernel_metrics(kernel, &figures);
///     log(figures.latency.p99_ns);
///
/// Threading: every function from any thread, on shared handles too. Takes microseconds, beside the
/// traffic. Each figure is whole; together they are no atomic snapshot.
/// Ownership: structs are the caller's. They grow at their ends: a library fills as much as
/// `struct_size` says, and with zeros what it does not know.
/// Errors: as in ringkernel.h, with `ringkernel_last_error`.
/// Units: `_ns` nanoseconds, `_bytes` bytes; others are counts. Those that do not say "at this
/// moment", or a capacity, only grow: subtract what you saw before.
#ifndef RINGKERNEL_RINGKERNEL_METRICS_H
#define RINGKERNEL_RINGKERNEL_METRICS_H

#include "ringkernel/ringkernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How long something took, to less than a hundredth (what took over an hour: as an hour). All
/// zero: nothing was measured.
typedef struct ringkernel_latency {
  uint64_t count;
  uint64_t sum_ns;
  uint64_t p50_ns; /* the shortest duration that half of them did not exceed; likewise below */
  uint64_t p90_ns;
  uint64_t p99_ns;
  uint64_t p999_ns;
  uint64_t max_ns;
} ringkernel_latency;

/// The metrics of one ring kernel; counters only grow.
typedef struct ringkernel_kernel_figures {
  size_t struct_size;              /* sizeof(ringkernel_kernel_figures), set by the caller */
  int32_t status;                  /* enum ringkernel_kernel_state */
  uint32_t reserved;               /* 0 */
  uint64_t program_version;        /* version of its program, 1 more for each swap */
  uint64_t messages_in;            /* requests the device has read */
  uint64_t messages_out;           /* replies the device has written */
  uint64_t bytes_in;               /* bytes of input ring the device has read */
  uint64_t bytes_out;              /* bytes of output ring the device has written */
  uint64_t faults;                 /* requests the device has answered with an error */
  uint64_t backpressure_count;     /* times the device found no room for a reply */
  uint64_t accepted;               /* messages accepted */
  uint64_t replied;                /* messages that ended with a reply */
  uint64_t failed;                 /* messages that ended with an error */
  uint64_t late;                   /* replies to messages that had ended */
  uint64_t dropped;                /* messages dropped by policy */
  uint64_t expired;                /* messages whose deadline passed */
  uint64_t cancelled;              /* messages cancelled */
  uint64_t slices;                 /* dispatches of its program's executor */
  uint64_t parks;                  /* of these, ended for this kernel's work-group */
  uint64_t wake_ups;               /* of these, started because of a message of this kernel */
  uint64_t copies;                 /* copies of its records, positions and states */
  uint64_t copied_bytes;           /* bytes of these */
  uint64_t queued;                 /* messages that wait on the host for room in the input ring */
  uint64_t in_flight;              /* messages accepted and not taken by a receiver */
  uint64_t in_flight_max;          /* most of these that it takes */
  uint64_t unreceived;             /* of these, answered and waiting for a receive */
  uint64_t input_ring_position;    /* bytes ever published to the input ring */
  uint64_t input_ring_bytes;       /* capacity of the input ring */
  uint64_t input_ring_used_bytes;  /* bytes in the input ring */
  uint64_t output_ring_position;   /* bytes ever published to the output ring */
  uint64_t output_ring_bytes;      /* capacity of the output ring */
  uint64_t output_ring_used_bytes; /* bytes in the output ring */
  uint64_t oldest_call_age_ns;     /* age of the message that has waited longest */
  /// Of messages that the device has answered, one in `latency_sampling` of the runtime.
  ringkernel_latency latency;    /* from the submission until the receiver had the answer */
  ringkernel_latency host_queue; /* from the submission until there was room in the input ring */
  ringkernel_latency device;     /* from there until the reply was found in the output ring */
  ringkernel_latency to_device;  /* of this, until the executor took it; where its clock is known */
  ringkernel_latency executor;   /* from there until it had answered; where its clock is known */
  ringkernel_latency to_host;  /* from there until the reply was found; where its clock is known */
  ringkernel_latency delivery; /* from the reply found until the receiver had the answer */
} ringkernel_kernel_figures;

/// The metrics of a runtime; counters only grow.
typedef struct ringkernel_runtime_figures {
  size_t struct_size;                /* sizeof(ringkernel_runtime_figures), set by the caller */
  uint64_t kernels;                  /* ring kernels */
  uint64_t executors;                /* executors, one for each program in use */
  uint64_t slices;                   /* dispatches of executors */
  uint64_t work_groups;              /* work-groups of each executor */
  uint64_t copies;                   /* copies of messages and counters between host and device */
  uint64_t copied_bytes;             /* bytes of these */
  uint64_t arena_bytes;              /* size of the arena */
  uint64_t arena_free_bytes;         /* free bytes of the arena */
  uint64_t arena_largest_free_bytes; /* largest free block of the arena */
  uint64_t tensors;                  /* resident tensors */
  uint64_t tensor_bytes;             /* bytes of resident tensors */
  uint64_t functions_cached;         /* compiled functions kept */
  uint64_t function_cache_bytes;     /* bytes of the arena that these occupy */
  uint64_t function_cache_hits;      /* compiled functions found */
  uint64_t function_cache_misses;    /* compiled functions not found */
  uint64_t function_cache_evictions; /* compiled functions given up for others */
  uint64_t program_cache_hits;       /* device programs taken from the disk */
  uint64_t program_cache_misses;     /* device programs not there and built */
  uint64_t program_cache_rejected;   /* device programs not to be trusted and built */
  uint64_t latency_sampling;         /* messages for one that is timed; 0: none is */
  uint64_t errors;                   /* errors of all kinds */
  uint64_t errors_missing;           /* of these, of kinds that found no place in the log */
} ringkernel_runtime_figures;

/// Of one method of a program with a schema.
typedef struct ringkernel_method_figures {
  size_t struct_size; /* sizeof(ringkernel_method_figures), set by the caller */
  uint64_t answered;  /* requests that the device has answered */
  uint64_t faults;    /* of these, with an error */
  ringkernel_latency latency;
} ringkernel_method_figures;

/// What a runtime says of itself.
enum ringkernel_runtime_text {
  RINGKERNEL_TEXT_NAME = 0, /* what rkstat calls it */
  RINGKERNEL_TEXT_BACKEND = 1,
  RINGKERNEL_TEXT_DEVICE = 2,
  RINGKERNEL_TEXT_TRANSFER = 3,
  RINGKERNEL_TEXT_TELEMETRY_FILE = 4,   /* where other processes read its figures; "": nowhere */
  RINGKERNEL_TEXT_HTTP_ADDRESS = 5,     /* where browsers do; "": nowhere */
  RINGKERNEL_TEXT_TELEMETRY_FAILURE = 6 /* why not, unless that was wanted */
};

/// Fills as much of the struct as its `struct_size` says.
RINGKERNEL_API ringkernel_status ringkernel_kernel_metrics(ringkernel_kernel* kernel,
                                                           ringkernel_kernel_figures* out_figures);
/// Of the whole runtime, likewise.
RINGKERNEL_API ringkernel_status
ringkernel_runtime_metrics(ringkernel_runtime* runtime, ringkernel_runtime_figures* out_figures);
/// All zero for a method that was not called.
RINGKERNEL_API ringkernel_status
ringkernel_kernel_method_metrics(ringkernel_kernel* kernel, const ringkernel_method* method,
                                 ringkernel_method_figures* out_figures);
/// enum ringkernel_runtime_text. The text is valid until the thread's next call of this function.
RINGKERNEL_API ringkernel_status ringkernel_runtime_describe(ringkernel_runtime* runtime,
                                                             int32_t text, const char** out_text);

#ifdef __cplusplus
}
#endif

#endif
