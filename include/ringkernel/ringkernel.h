/// Ring kernels for C: resident actors that run ops on tensors in the caller's memory, or take
/// plain bytes.
///
///     ringkernel_runtime* runtime;
///     ringkernel_kernel* kernel;
///     ringkernel_runtime_open(NULL, &runtime);
///     ringkernel_kernel_launch(runtime, "worker", NULL, &kernel);
///     ringkernel_kernel_activate(kernel);
///     ringkernel_call(kernel, &request, timeout_ns, &result);
///     ringkernel_runtime_close(runtime);
///
/// Threading: every function from any thread, on shared handles too. `ringkernel_last_error` is of
/// the calling thread.
/// Ownership: handles are numbers that are never used twice, not addresses: one that was closed, or
/// never was one, is `invalid_argument`. Closing a runtime ends its kernels and closes their
/// handles. Memory that a pointer names is the caller's and is not touched after the function has
/// returned.
/// Errors: a function returns 0 or the number of its error, which is that of the C++ library
/// (RINGKERNEL_E_*, 6002 for E6002). No exception comes out. What an out pointer names is changed
/// by a function that succeeds; otherwise only where this says so.
/// Units: `_ns` nanoseconds, `_bytes` bytes.
#ifndef RINGKERNEL_RINGKERNEL_H
#define RINGKERNEL_RINGKERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifndef RINGKERNEL_API
#define RINGKERNEL_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// 0, or one of the numbers below.
typedef int32_t ringkernel_status;

/// The numbers of errors, those of the C++ library.
enum ringkernel_error {
  RINGKERNEL_OK = 0,
#define RK_FAULT(code, name, sentence) RINGKERNEL_E_##name = code,
#include "ringkernel/protocol/fault.def"
#undef RK_FAULT
#define RK_ERRC(value, name, sentence) RINGKERNEL_E_##name = value,
#include "ringkernel/errc.def"
#undef RK_ERRC
  RINGKERNEL_E_MAX_ENUM = 0x7fffffff /* no error */
};

/// A device, the programs on it, and their ring kernels.
typedef struct ringkernel_runtime ringkernel_runtime;
/// A ring kernel.
typedef struct ringkernel_kernel ringkernel_kernel;
/// A request that is made again and again (`ringkernel_kernel_prepare`).
typedef struct ringkernel_prepared ringkernel_prepared;
/// A tensor on the device (ringkernel_graph.h).
typedef struct ringkernel_resident ringkernel_resident;

enum { RINGKERNEL_RANK_MAX = 8 };

/// The type of a tensor's elements.
enum ringkernel_dtype {
  RINGKERNEL_NONE = 0, /* of a reply without a tensor */
  RINGKERNEL_F32 = 1,
  RINGKERNEL_I32 = 2,
  RINGKERNEL_I64 = 3
};

/// Which kind of device a runtime is for.
enum ringkernel_target {
  RINGKERNEL_TARGET_AUTOMATIC = 0,
  RINGKERNEL_TARGET_CPU = 1,
  RINGKERNEL_TARGET_GPU = 2
};

/// Where a ring kernel is in its life.
enum ringkernel_kernel_state {
  RINGKERNEL_CREATED = 0,
  RINGKERNEL_LAUNCHED = 1,
  RINGKERNEL_ACTIVE = 2,
  RINGKERNEL_DEACTIVATED = 3,
  RINGKERNEL_TERMINATING = 4,
  RINGKERNEL_TERMINATED = 5,
  RINGKERNEL_FAILED = 6
};

/// A tensor in the caller's memory, dense and row-major.
typedef struct ringkernel_tensor {
  int32_t dtype; /* enum ringkernel_dtype */
  uint32_t rank;
  int64_t dims[RINGKERNEL_RANK_MAX]; /* outermost first; beyond the rank ignored */
  void* data;
  uint64_t data_bytes; /* of an operand: its bytes; of a result: room at `data`, then its bytes */
} ringkernel_tensor;

/// Plain bytes in the caller's memory.
typedef struct ringkernel_bytes {
  void* data;          /* may be null where there are no bytes */
  uint64_t data_bytes; /* of a message: its bytes; of a reply: room at `data`, then its bytes */
} ringkernel_bytes;

/// An op on operands.
typedef struct ringkernel_request {
  size_t struct_size; /* sizeof(ringkernel_request) */
  const char* op; /* "add", "tensor.add", "Add"; or with its attributes, "Sum(%0, [1], false)" */
  const char* attributes;          /* as behind the operands in that text, "[1], false"; or null */
  const ringkernel_tensor* inputs; /* in the order of the op */
  size_t input_count;
  /// Null, or as many as inputs. One that is not null is the input of its number, and what `inputs`
  /// has there is not looked at; where all are, `inputs` may be null.
  ringkernel_resident* const* residents;
  ringkernel_resident* into; /* not null: takes the result, which has no elements here then */
} ringkernel_request;

/// Grow at their ends; zeroed fields are defaults.
typedef struct ringkernel_runtime_options {
  size_t struct_size;  /* sizeof(ringkernel_runtime_options) */
  int32_t target;      /* enum ringkernel_target */
  uint32_t reserved;   /* 0 */
  const char* backend; /* forces one: "native", "opencl" */
  uint64_t arena_bytes;
  uint64_t call_timeout_ns;
  uint64_t termination_timeout_ns;
  uint64_t send_timeout_ns; /* how long a send without a timeout waits for room: then queue_full */
  uint64_t driver_timeout_ns; /* with opening a device and building a program: 5 minutes */
  uint64_t turn_for_ns;       /* of a long op, before others go on: 200 us; UINT64_MAX: its end */
} ringkernel_runtime_options;

/// Of one ring kernel; zeroed fields are defaults.
typedef struct ringkernel_kernel_options {
  size_t struct_size;   /* sizeof(ringkernel_kernel_options) */
  uint32_t input_bytes; /* of the ring: a power of two; a message takes at most half */
  uint32_t output_bytes;
  uint32_t in_flight_max;
  uint32_t queue_max;
  const char* program;   /* "core", the default: ops; "echo": bytes, which come back; or one that
                            was added */
  const char* behaviour; /* of a program with a schema; null where it has one */
} ringkernel_kernel_options;

/// Builds of a program that are part of the executable (ringkernel/backend_abi.h).
struct rk_compiled_program;

/// A program of one's own (docs/PROGRAMS.md). `ringkernel_add_program(NAME C ...)` of CMake writes
/// one, with all that it needs.
typedef struct ringkernel_program {
  size_t struct_size;      /* sizeof(ringkernel_program) */
  const char* name;        /* an identifier */
  const char* source_name; /* of the handlers: a file, or what errors call `source` */
  const char* source;      /* their text; null: that of the file */
  const char* schema_name; /* of the binary schema, likewise; null: there is none */
  const void* schema;      /* its bytes; null: those of the file */
  uint64_t schema_bytes;
  uint32_t state_bytes;            /* without a schema: of each kernel's state */
  uint32_t reply_bytes;            /* likewise: room of a reply; 0: that of its message */
  const char* const* header_names; /* of files that the source may include, without folders */
  const char* const* headers;      /* their texts; null, or a null text: the file of that name */
  uint64_t header_count;
  uint32_t guard;          /* not 0: a handler that writes beyond its reply or its state is
                              program_overran, and its kernel has failed */
  uint32_t reserved;       /* 0 */
  const char* schema_text; /* what `schema` was made of, which gives errors its lines; or null */
  const struct rk_compiled_program* compiled; /* null, or of CMake's making: no compiler is needed
                                                 natively */
} ringkernel_program;

/// A method as a program's schema has it.
typedef struct ringkernel_method_info {
  const char* name;
  const char* request; /* its table's full name, as is `reply` */
  const char* reply;
  uint32_t id; /* this and the next: as `ringkernel_method` has them */
  uint32_t reply_bytes;
} ringkernel_method_info;

/// A behaviour, a service of a program's schema.
typedef struct ringkernel_behaviour_info {
  const char* name;
  const char* state; /* the struct's full name; "": it has none */
  uint32_t state_bytes;
  uint32_t state_version;
  size_t method_count;
  const ringkernel_method_info* const* methods; /* each by its address: they grow at their ends */
} ringkernel_behaviour_info;

/// What a runtime knows of a program.
typedef struct ringkernel_program_info {
  size_t struct_size;     /* sizeof(ringkernel_program_info), set by the caller */
  uint32_t version;       /* 1 more for each swap */
  uint32_t takes_ops;     /* 1: its messages are requests of ops, as those of `core` */
  uint32_t reply_bytes;   /* as ringkernel_program has it */
  uint32_t reserved;      /* 0 */
  size_t behaviour_count; /* 0 without a schema */
  const ringkernel_behaviour_info* const* behaviours; /* likewise */
  const char* header; /* generated of the schema, for editors; "" without one */
} ringkernel_program_info;

/// How a program took another one's place.
typedef struct ringkernel_swap {
  uint32_t version;  /* of the program now: 1 more for each swap */
  uint32_t migrated; /* kernels whose states were made anew, or are new */
  uint64_t pause_ns; /* how long no message was handled at most */
} ringkernel_swap;

/// A method of a kernel's behaviour: filled by `ringkernel_kernel_method`, good for all kernels of
/// that behaviour.
typedef struct ringkernel_method {
  uint32_t id;
  uint32_t reply_bytes; /* room that its reply needs */
} ringkernel_method;

/// "0.1.0", and a number that changes when a program must be compiled anew.
RINGKERNEL_API const char* ringkernel_version(void);
/// That of the library which is loaded.
RINGKERNEL_API uint32_t ringkernel_abi_version(void);

/// What the last function of this library that this thread called failed with, with its text; null
/// if it did not fail. Valid until the thread's next call.
RINGKERNEL_API const char* ringkernel_last_error(void);

/// Null options: the defaults. E6002 if the target cannot be served.
RINGKERNEL_API ringkernel_status ringkernel_runtime_open(const ringkernel_runtime_options* options,
                                                         ringkernel_runtime** out_runtime);
/// E6007 if the device did not let go in time; the handle is closed all the same.
RINGKERNEL_API ringkernel_status ringkernel_runtime_close(ringkernel_runtime* runtime);
/// The way back after a device error: terminates the kernels of that program and ends its executor.
/// What was in flight ends with kernel_terminated. Their handles stay until they are closed; launch
/// kernels anew. E6007 if the device did not let go in time: try it again. program_not_found.
RINGKERNEL_API ringkernel_status ringkernel_runtime_restart(ringkernel_runtime* runtime,
                                                            const char* program);

/// A kernel in state launched, which accepts messages and runs none. Null options: the defaults.
/// The program decides what its messages are; a function for the other kind is
/// unsupported_operation. program_not_found if there is none of that name.
RINGKERNEL_API ringkernel_status ringkernel_kernel_launch(ringkernel_runtime* runtime,
                                                          const char* id,
                                                          const ringkernel_kernel_options* options,
                                                          ringkernel_kernel** out_kernel);
/// As `Kernel::activate` of the C++ library.
RINGKERNEL_API ringkernel_status ringkernel_kernel_activate(ringkernel_kernel* kernel);
/// As `Kernel::deactivate` of the C++ library.
RINGKERNEL_API ringkernel_status ringkernel_kernel_deactivate(ringkernel_kernel* kernel);
/// `drain` not 0: processes what is queued first. The handle stays, for `receive` and the state.
RINGKERNEL_API ringkernel_status ringkernel_kernel_terminate(ringkernel_kernel* kernel,
                                                             int32_t drain);
/// enum ringkernel_kernel_state.
RINGKERNEL_API ringkernel_status ringkernel_kernel_state(ringkernel_kernel* kernel,
                                                         int32_t* out_state);
/// Gives up the handle. The kernel goes on until it is terminated, or its runtime closed.
RINGKERNEL_API ringkernel_status ringkernel_kernel_close(ringkernel_kernel* kernel);

/// Runs one op and waits for its result, which goes to `result->data`: `data_bytes` says how much
/// room there is, and becomes the bytes of the result, with its dtype, rank and dims. With too
/// little room the op is not run: message_too_large, and `data_bytes` is what it needs. Zero
/// timeout: `call_timeout_ns`.
RINGKERNEL_API ringkernel_status ringkernel_call(ringkernel_kernel* kernel,
                                                 const ringkernel_request* request,
                                                 uint64_t timeout_ns, ringkernel_tensor* result);
/// Accepts a message whose outcome `receive` will give. Zero timeout: no deadline. `out_message`
/// may be null.
RINGKERNEL_API ringkernel_status ringkernel_send(ringkernel_kernel* kernel,
                                                 const ringkernel_request* request,
                                                 uint64_t timeout_ns, uint64_t* out_message);
/// The next outcome: its result, as that of `call`, or its error. `out_message` may be null; it
/// gets the message's number in either case, 0 if the error is no message's (deadline_exceeded:
/// none came in time). With too little room the outcome stays: message_too_large.
RINGKERNEL_API ringkernel_status ringkernel_receive(ringkernel_kernel* kernel, uint64_t timeout_ns,
                                                    ringkernel_tensor* result,
                                                    uint64_t* out_message);

/// Reads, checks and lays out a request once that will be made again and again. Of its inputs only
/// types and shapes are looked at. The errors are those of `call`.
RINGKERNEL_API ringkernel_status ringkernel_kernel_prepare(ringkernel_kernel* kernel,
                                                           const ringkernel_request* request,
                                                           ringkernel_prepared** out_prepared);
/// Makes the request with these inputs, in its order, and waits for the results, which go to the
/// caller's memory as that of `call` does. Of an input, `dtype` and bytes are looked at; of one
/// that is resident, nothing. An op has one result, or none (`into`, noop). A result may lie where
/// an input does. With too little room for a result nothing is sent: message_too_large, and
/// `data_bytes` of each is what it needs. One thread at a time: busy, while another one's call is
/// under way; prepare one for each. Zero timeout: `call_timeout_ns`. E2007, E2004, E3007: inputs or
/// results in another number, inputs of another type, of another number of elements than prepared.
/// After any other error what the results hold is unspecified.
RINGKERNEL_API ringkernel_status ringkernel_prepared_call(ringkernel_prepared* prepared,
                                                          const ringkernel_tensor* inputs,
                                                          size_t input_count, uint64_t timeout_ns,
                                                          ringkernel_tensor* results,
                                                          size_t result_count);
/// A call under way ends as if it had come before. The kernel may be closed first; closing the
/// runtime closes it, too.
RINGKERNEL_API ringkernel_status ringkernel_prepared_close(ringkernel_prepared* prepared);

/// The same with plain bytes. A reply needs as much room as its message has bytes, or as the
/// program says: with less, `call_bytes` does not send the message.
RINGKERNEL_API ringkernel_status ringkernel_call_bytes(ringkernel_kernel* kernel,
                                                       const ringkernel_bytes* message,
                                                       uint64_t timeout_ns,
                                                       ringkernel_bytes* reply);
/// As `ringkernel_send`, with plain bytes.
RINGKERNEL_API ringkernel_status ringkernel_send_bytes(ringkernel_kernel* kernel,
                                                       const ringkernel_bytes* message,
                                                       uint64_t timeout_ns, uint64_t* out_message);
/// As `ringkernel_receive`, with plain bytes.
RINGKERNEL_API ringkernel_status ringkernel_receive_bytes(ringkernel_kernel* kernel,
                                                          uint64_t timeout_ns,
                                                          ringkernel_bytes* reply,
                                                          uint64_t* out_message);

/// Builds a program and keeps it for as long as the runtime lives. invalid_argument, build_failed,
/// E6002 (no compiler): `ringkernel_last_error` has the compiler's words.
RINGKERNEL_API ringkernel_status ringkernel_program_add(ringkernel_runtime* runtime,
                                                        const ringkernel_program* program);
/// Puts another build in the place of the program of that name while its kernels go on: messages
/// and states stay. Without a schema, or sizes, those of before. `out_swap` may be null.
/// incompatible_program with what differs, build_failed, busy (another swap, or the device with a
/// message): then nothing has changed. state_mismatch, E6007: it was swapped, and a state or a
/// slice of before is stuck.
RINGKERNEL_API ringkernel_status ringkernel_program_swap(ringkernel_runtime* runtime,
                                                         const ringkernel_program* program,
                                                         ringkernel_swap* out_swap);
/// The same with the build before. invalid_state: there is none.
RINGKERNEL_API ringkernel_status ringkernel_program_swap_back(ringkernel_runtime* runtime,
                                                              const char* name,
                                                              ringkernel_swap* out_swap);
/// Fills as much of `out_info` as its `struct_size` says. What it points to is the thread's until
/// its next call of this function. program_not_found.
RINGKERNEL_API ringkernel_status ringkernel_program_describe(ringkernel_runtime* runtime,
                                                             const char* name,
                                                             ringkernel_program_info* out_info);
/// A method by its name, "Submit" or "trading.Book.Submit": once, for calls again and again.
/// unknown_method.
RINGKERNEL_API ringkernel_status ringkernel_kernel_method(ringkernel_kernel* kernel,
                                                          const char* name,
                                                          ringkernel_method* out_method);
/// The schema that the kernel's program has now, in its binary form, and the full name of its
/// behaviour there, without a zero. With too little room for either: message_too_large, and
/// `data_bytes` of both are what they need. unsupported_operation: it has none.
RINGKERNEL_API ringkernel_status ringkernel_kernel_schema(ringkernel_kernel* kernel,
                                                          ringkernel_bytes* schema,
                                                          ringkernel_bytes* behaviour);
/// As `call_bytes` and `send_bytes`: the request is a finished FlatBuffer, and so is the reply.
/// `receive_bytes` takes the replies of what was sent. handler_fault: `ringkernel_last_fault`.
RINGKERNEL_API ringkernel_status ringkernel_call_method(ringkernel_kernel* kernel,
                                                        const ringkernel_method* method,
                                                        const ringkernel_bytes* request,
                                                        uint64_t timeout_ns,
                                                        ringkernel_bytes* reply);
/// As `ringkernel_send`, of a method.
RINGKERNEL_API ringkernel_status ringkernel_send_method(ringkernel_kernel* kernel,
                                                        const ringkernel_method* method,
                                                        const ringkernel_bytes* request,
                                                        uint64_t timeout_ns, uint64_t* out_message);
/// The state of a kernel that is launched or deactivated; `data_bytes` are all that it has.
RINGKERNEL_API ringkernel_status ringkernel_kernel_read_state(ringkernel_kernel* kernel,
                                                              const ringkernel_bytes* state);
/// As the read before it.
RINGKERNEL_API ringkernel_status ringkernel_kernel_write_state(ringkernel_kernel* kernel,
                                                               const ringkernel_bytes* state);
/// The state as JSON by the program's schema, at any time: an active kernel pauses for the copy,
/// and its messages wait meanwhile. Without a schema: its bytes, a string of hexadecimal digits.
/// The text is valid until the thread's next call of this function. invalid_state of one that has
/// ended; state_mismatch, if it has no state, or one that was not migrated; busy, if the device was
/// busy with a message for `termination_timeout_ns`.
RINGKERNEL_API ringkernel_status ringkernel_kernel_state_json(ringkernel_kernel* kernel,
                                                              const char** out_json);
/// Which version of the program answered (`ringkernel_swap`), modulo 65536, where the thread's last
/// call gave a reply of bytes or of a method, by JSON too; else 0, also where nothing was sent.
RINGKERNEL_API uint32_t ringkernel_last_version(void);
/// The handler's own code, where the thread's last call failed with handler_fault; else likewise 0.
/// `out_detail` may be null.
RINGKERNEL_API uint32_t ringkernel_last_fault(uint64_t* out_detail);

#ifdef __cplusplus
}
#endif

#endif
