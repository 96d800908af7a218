/// The C interface between the runtime and a backend (a driver): built-in backends implement it as
/// plugins do. Standalone: standard C headers and the protocol only.
///
/// Threading: every function may be called from any thread. Calls on distinct executors are
/// independent; calls on one executor are safe, and its slices run one after the other, in the
/// order of the calls, whichever threads call.
/// Ownership: handles belong to the caller until the matching close/destroy call, children first.
/// Nothing but open, executor_create, executor_prepare, executor_destroy and close may take as long
/// as a driver does; these have timeouts of their own (rk_device_options), all others theirs.
/// Errors: int32_t, 0 = ok, else a value of `Errc` (include/ringkernel/error.hpp). The text that
/// says what and why is `last_detail()` of the same thread, valid until its next call. Nothing
/// throws.
/// Units: bytes and nanoseconds, as the names say.
#ifndef RINGKERNEL_BACKEND_ABI_H
#define RINGKERNEL_BACKEND_ABI_H

#include "ringkernel/protocol/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Bumped when a struct or a function below changes. The host passes its own to the query function.
#define RK_BACKEND_ABI_VERSION 9u

typedef struct rk_device rk_device;     /* an opened device with its one arena */
typedef struct rk_executor rk_executor; /* one program on one device, as a queue of slices */

#define RK_DEVICE_KIND_CPU 1u
#define RK_DEVICE_KIND_GPU 2u
#define RK_DEVICE_KIND_OTHER 3u

/// How bytes reach the device (docs/ARCHITECTURE.md, transfer strategies).
#define RK_TRANSFER_NONE 0u      /* the device cannot serve; `reason` says why */
#define RK_TRANSFER_ZERO_COPY 1u /* host and device work on the same memory */
#define RK_TRANSFER_DMA 2u       /* copies between host and device beside a running slice */
#define RK_TRANSFER_SLICED 3u    /* copies between slices only, in one queue with them */

/// What a device is and can do. Filled by `describe`; texts are NUL-terminated, never NULL.
typedef struct rk_device_description {
  uint32_t struct_bytes; /* in: size the caller knows; out: size filled */
  uint32_t kind;         /* RK_DEVICE_KIND_* */
  uint32_t compute_units;
  uint32_t
      transfer; /* RK_TRANSFER_*: the best that the device's own claims nominate; `open` tests */
  uint64_t memory_bytes;
  uint64_t allocation_bytes_max;
  uint32_t work_groups_max; /* of one executor that stay resident together, as far as the device's
                               own figures tell; >= 1, <= RK_WORK_GROUPS_MAX */
  uint32_t work_items_max;  /* of one work-group */
  char name[128];
  char platform[128];
  char driver[128];
  char version[128];
  char reason[512]; /* why `transfer` is not better, or why the device is unusable; may be "" */
  char capabilities[1024]; /* lines "key: value" for people: SVM, atomics, queues, limits */
} rk_device_description;

/// What `open` needs to know.
typedef struct rk_device_options {
  uint32_t struct_bytes;
  uint32_t executors_max; /* executors that will be resident at once */
  uint64_t arena_bytes;   /* size of the one device-visible allocation; zero-initialised */
  uint32_t transfer;    /* RK_TRANSFER_*: this one or none; RK_TRANSFER_NONE: the best that works */
  uint32_t work_groups; /* of one executor that are to be resident together; 0 is 1 */
  uint32_t test_anew;   /* 1: the self-test runs even if its result is remembered */
  /* How long calls wait for a driver that does not come back. 0: as long as the backend likes. */
  uint64_t driver_timeout_ns; /* open, executor_create, executor_prepare: then execution_timeout */
  uint64_t end_timeout_ns;    /* executor_destroy, close: then what is there stays for good */
} rk_device_options;

/// What `open` made and found out, and counts of the device as they are now.
typedef struct rk_device_state {
  uint32_t struct_bytes;
  uint32_t transfer; /* RK_TRANSFER_* in use, confirmed by the self-test */
  /* host address of the arena, 128-byte aligned. Unless zero_copy: of its mirror on the host,
     pinned where the driver pins memory; the device sees what `copies_start` has brought there */
  void* arena;
  uint64_t arena_bytes;
  uint64_t polls_per_ms;         /* idle polls of the self-test per millisecond; 0 = not measured */
  char self_test[512];           /* what the self-test measured, for people */
  uint64_t program_cache_hits;   /* programs that were taken from the disk so far */
  uint64_t program_cache_misses; /* that were not there, and were built */
  uint64_t program_cache_rejected; /* that were there, could not be trusted, and were built */
  char steps_down[1024]; /* lines "strategy: why not" for each better one that was tried; may be ""
                          */
  uint32_t slices_have_clock; /* 1: idle slices yield, and park after `idle_ns_max`; 0: they
                                 spin and park after `idle_polls_max` */
  uint32_t work_groups; /* that an executor can have: as many of those asked for as the self-test
                           saw run together; `sliced`: as the device's figures tell */
} rk_device_state;

/// Programs that a backend may have compiled in, by their own way.
#define RK_PROGRAM_OF_SOURCES 0u
#define RK_PROGRAM_CORE 1u
#define RK_PROGRAM_ECHO 2u

struct rk_hosted_program; /* kernels/rk_hosted_abi.h */

/// A build of a program for processors of the host, which is linked into this process: made by
/// ringkernel_add_program, and by nobody else. An array of them has the best first and ends with
/// one that has no `query`.
typedef struct rk_compiled_program {
  uint32_t level;     /* of x86-64 that it needs, 2 to 4; 0: none */
  uint32_t reserved;  /* 0 */
  uint64_t text_hash; /* of the text that it was made of (Definition::text_hash) */
  const struct rk_hosted_program* (*query)(rk_u32 abi); /* as rk_program_query */
} rk_compiled_program;

/// A program as a backend gets it: whichever text it can build. All of it stays until the call
/// returns that is given it; `compiled` is of the process.
typedef struct rk_program_source {
  uint32_t struct_bytes;
  uint32_t built_in; /* RK_PROGRAM_*: which of ours it is */
  const char* name;  /* for errors */
  const char*
      device_text; /* OpenCL C, one translation unit, which defines the kernel rk_executor */
  const char* hosted_text; /* C++20, one translation unit, which exports rk_program_query
                              (kernels/rk_hosted.h); NULL: ours */
  const rk_compiled_program* compiled; /* builds of hosted_text; NULL: none */
  uint32_t version; /* what its slices write into replies: 1, and 1 more for each replacement */
  uint32_t guard;   /* 1: its executor stops kernels whose handlers write beyond their reply or
                       state; `device_text` says so itself (RK_GUARD). 0 for ours */
} rk_program_source;

#define RK_COPY_TO_DEVICE 1u
#define RK_COPY_TO_HOST 2u

/// One copy between the arena of the device and host memory that lies in its mirror: of one range,
/// or of two of the same length, in any order.
typedef struct rk_copy {
  uint32_t direction; /* RK_COPY_* */
  uint32_t
      guessed;     /* 1: the bytes may change meanwhile, and those that did will not be looked at */
  uint64_t offset; /* in the arena of the device */
  uint64_t bytes;  /* of a range; not 0 */
  void* host;
  uint64_t second_offset; /* >= offset + bytes; 0: there is no second range. On the host it follows
                             the first one immediately */
} rk_copy;

/// The table of a backend.
typedef struct rk_backend {
  uint32_t abi_version;  /* RK_BACKEND_ABI_VERSION the backend was built with */
  uint32_t struct_bytes; /* sizeof(rk_backend) the backend was built with */
  const char* name;      /* "native", "opencl" */
  const char* description;

  /// Preference for automatic selection among devices that are no processors of the host; higher
  /// is better, 0 = cannot serve here.
  int32_t (*score)(void);

  /// Number of devices. A driver that fails is skipped and reported by `report`.
  int32_t (*device_count)(uint32_t* count);
  int32_t (*describe)(uint32_t device, rk_device_description* out);
  /// Calls `line` with one sentence for each library tried and each platform that failed.
  int32_t (*report)(void (*line)(void* context, const char* text), void* context);

  /// Opens a device: allocates the arena, compares the device compiler's layout of the protocol
  /// with the host's (Errc::protocol_mismatch), runs the self-test. Slow (a build); never on a hot
  /// path.
  int32_t (*open)(uint32_t device, const rk_device_options* options, rk_device** out);
  int32_t (*state)(rk_device* device, rk_device_state* out);
  /// Gives everything back, within `end_timeout_ns`; what the driver does not let go of stays.
  void (*close)(rk_device* device);

  /// Builds `program` for the executor whose host line lies at `executor_offset` in the arena; its
  /// slices have `work_groups` work-groups, and one has returned when all of them have.
  /// Errc::build_failed, with the compiler's words; Errc::backend_unavailable where there is none;
  /// Errc::limit_exceeded for more than the device's state says.
  int32_t (*executor_create)(rk_device* device, const rk_program_source* program,
                             uint64_t executor_offset, uint32_t work_groups, rk_executor** out);
  /// Waits for the last slice to return; the caller has told it to stop. As close.
  void (*executor_destroy)(rk_executor* executor);

  /// Builds `program` as the next one of the executor, whose slices go on meanwhile. One thread at
  /// a time, as executor_replace. Errors: as of executor_create. NULL, both: the backend cannot.
  int32_t (*executor_prepare)(rk_executor* executor, const rk_program_source* program);
  /// Slices that begin from here on run what was prepared last. Asks the one that runs to leave
  /// (rk_executor_host_line.leave_slice), and waits until none of the old program runs any more.
  /// Errc::execution_timeout after `timeout_ns`: the next slice runs the new one all the same.
  int32_t (*executor_replace)(rk_executor* executor, uint64_t timeout_ns);

  /// dma and sliced only. Starts copies that take place one behind the other, and behind all that
  /// were started before (sliced: behind all slices, too). The host memory stays as it is until
  /// they have ended. Aligned words of 4 and 8 bytes arrive whole. `*ticket` names the last one.
  int32_t (*copies_start)(rk_device* device, const rk_copy* copies, uint32_t count,
                          uint64_t* ticket);
  /// Waits until that copy has ended; Errc::execution_timeout after `timeout_ns`. An error of any
  /// copy is one of all later ones.
  int32_t (*copies_wait)(rk_device* device, uint64_t ticket, uint64_t timeout_ns);

  /// Starts slice number `slice` behind those started before; does not wait. Errc::busy, never
  /// with zero_copy: not at the moment, because another executor has to leave first.
  int32_t (*slice_launch)(rk_executor* executor, uint32_t slice);
  /// Runs slice `slice` on the calling thread and returns when it has parked. Errc::busy if another
  /// slice of this executor is running, or if it has several work-groups. NULL: the backend cannot.
  int32_t (*slice_run)(rk_executor* executor, uint32_t slice);
  /// Waits until every launched slice has returned; Errc::execution_timeout after `timeout_ns`.
  int32_t (*slice_wait)(rk_executor* executor, uint64_t timeout_ns);
  /// 0, or why a slice ended that did not end by itself (Errc::device_error). Cheap; never blocks.
  int32_t (*slice_error)(rk_executor* executor);

  const char* (*last_detail)(void);
} rk_backend;

/// Entry point of a plugin, which is called librk_backend_NAME.so: the table, or NULL if it cannot
/// serve that version. examples/null_backend/ is one to begin with.
typedef const rk_backend* (*rk_backend_query_function)(uint32_t host_abi_version);
#define RK_BACKEND_QUERY "rk_backend_query" /* its symbol */

#ifdef __cplusplus
}
#endif

#endif
