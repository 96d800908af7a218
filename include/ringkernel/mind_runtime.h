/// The MIND runtime for C: the seven published functions of its C API, and extensions of this
/// library, marked as such.
///
///     mind_runtime_t* runtime;
///     mind_tensor_t* x;
///     const int64_t shape[] = {4};
///     mind_runtime_new(MIND_DEVICE_CPU, &runtime);
///     mind_tensor_alloc(runtime, MIND_DTYPE_F32, shape, 1, &x);
///     mind_tensor_write_f32(runtime, x, numbers, 4);
///     mind_runtime_run_op(runtime, "relu", &x, 1, &x, 1);
///     mind_tensor_read_f32(runtime, x, numbers, 4);
///     mind_runtime_free(runtime);
///
/// Threading: every function from any thread. Ops of several threads on one runtime are ordered as
/// they arrive. A call that is under way when its handle is freed ends as if it had come before.
/// Ownership: handles are numbers that are never used twice, not addresses: one that was freed, or
/// never was one, is MIND_STATUS_INVALID_ARG. Freeing a runtime frees its tensors. Everything that
/// a pointer names is the caller's, and is not touched after the function has returned.
/// Errors: a function that fails has changed nothing that its caller owns, and no exception comes
/// out. The status is coarse:
///
///     INVALID_ARG     null or nonsense; E2xxx, E3xxx, E4xxx, E6001; a handle that is none
///     UNSUPPORTED     E6002 (device), E6003 (op), element types that are not implemented
///     RUNTIME_ERROR   E6004 (memory), E6007 (time), E6008 (device failed, context poisoned)
///     INTERNAL_ERROR  a fault of this library
///
/// and `mind_runtime_last_error` has the exact code with its text.
#ifndef RINGKERNEL_MIND_RUNTIME_H
#define RINGKERNEL_MIND_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifndef RINGKERNEL_API
#define RINGKERNEL_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// How a function ended.
typedef enum mind_status_e {
  MIND_STATUS_OK = 0,
  MIND_STATUS_INVALID_ARG = 1,
  MIND_STATUS_UNSUPPORTED = 2,
  MIND_STATUS_RUNTIME_ERROR = 3,
  MIND_STATUS_INTERNAL_ERROR = 4
} mind_status_t;

/// The type of a tensor's elements.
typedef enum mind_dtype_e {
  MIND_DTYPE_F32 = 0,
  MIND_DTYPE_U8 = 1,  /* not implemented */
  MIND_DTYPE_F16 = 2, /* not implemented */
  MIND_DTYPE_I32 = 3,
  MIND_DTYPE_I64 = 100,            /* extension */
  MIND_DTYPE_MAX_ENUM = 0x7fffffff /* no element type: any int is a value of this enum */
} mind_dtype_t;

/// The kind of device that a runtime is for.
typedef enum mind_device_e {
  MIND_DEVICE_CPU = 0,
  MIND_DEVICE_GPU = 1,
  MIND_DEVICE_NOOP = 100, /* extension: allocates handles; every op succeeds and does nothing */
  MIND_DEVICE_MAX_ENUM = 0x7fffffff
} mind_device_t;

/// A runtime on one device.
typedef struct mind_runtime_s mind_runtime_t;
/// A tensor on the device.
typedef struct mind_tensor_s mind_tensor_t;

/* --- the published functions --- */

/// A runtime on a device of this kind. UNSUPPORTED (E6002) if there is none.
RINGKERNEL_API mind_status_t mind_runtime_new(mind_device_t device, mind_runtime_t** out_rt);
/// Ends what is unfinished. Null is nothing.
RINGKERNEL_API void mind_runtime_free(mind_runtime_t* rt);

/// A tensor of `rank` extents, dense and row-major, all zero; `shape` may be null for rank 0. On a
/// gpu the number of f32 elements is a multiple of 4.
RINGKERNEL_API mind_status_t mind_tensor_alloc(mind_runtime_t* rt, mind_dtype_t dtype,
                                               const int64_t* shape, size_t rank,
                                               mind_tensor_t** out_tensor);
/// The memory goes when no op uses it any more. Null is nothing.
RINGKERNEL_API void mind_tensor_free(mind_runtime_t* rt, mind_tensor_t* tensor);

/// Copies all elements in, or out; `len` is their number. Behind the ops that were given before.
RINGKERNEL_API mind_status_t mind_tensor_write_f32(mind_runtime_t* rt, mind_tensor_t* tensor,
                                                   const float* data, size_t len);
/// As the write before it.
RINGKERNEL_API mind_status_t mind_tensor_read_f32(mind_runtime_t* rt, mind_tensor_t* tensor,
                                                  float* data, size_t len);

/// Runs one op and waits for it. `op_name` is `add`, `tensor.add` or `Add`, or an operation of the
/// Core IR's text, "Sum(%0, [1], false)", where %0 is the first input (docs/MIND.md).
RINGKERNEL_API mind_status_t mind_runtime_run_op(mind_runtime_t* rt, const char* op_name,
                                                 mind_tensor_t* const* inputs, size_t num_inputs,
                                                 mind_tensor_t* const* outputs, size_t num_outputs);

/* --- extensions --- */

/// Grows at its end; zeroed fields are defaults.
typedef struct mind_runtime_options_s {
  size_t struct_size;     /* sizeof(mind_runtime_options_t) */
  const char* backend;    /* forces one: "native", "opencl" */
  uint64_t arena_bytes;   /* memory for tensors and rings */
  uint64_t op_timeout_ns; /* an op that takes longer is E6007 */
  uint32_t queues;        /* of work; ops are ordered by the tensors that they use */
  uint32_t reserved;      /* 0 */
} mind_runtime_options_t;

/// `mind_runtime_new` with options; null: the defaults.
RINGKERNEL_API mind_status_t mind_runtime_open(mind_device_t device,
                                               const mind_runtime_options_t* options,
                                               mind_runtime_t** out_rt);

/// The same with the op's attributes in a text of their own, as they stand behind the operands:
/// `"[1], false"` for sum. Null: as `mind_runtime_run_op`.
RINGKERNEL_API mind_status_t mind_runtime_run_op_attr(
    mind_runtime_t* rt, const char* op_name, const char* attributes, mind_tensor_t* const* inputs,
    size_t num_inputs, mind_tensor_t* const* outputs, size_t num_outputs);
/// The same without waiting, neither for the op nor for those that it depends on. Natively this
/// thread runs the op if nothing else is unfinished, unless op_timeout_ns is set or ops took over
/// 100 us lately: a first long one is waited for.
RINGKERNEL_API mind_status_t mind_runtime_run_op_async(
    mind_runtime_t* rt, const char* op_name, const char* attributes, mind_tensor_t* const* inputs,
    size_t num_inputs, mind_tensor_t* const* outputs, size_t num_outputs);
/// Waits until every op given before has ended. The first error of an asynchronous one since the
/// last time.
RINGKERNEL_API mind_status_t mind_runtime_synchronize(mind_runtime_t* rt);

/// The way back after E6007 or E6008: tensors that an op may have been writing when it failed are
/// gone, the others intact. Nothing that failed is run again.
RINGKERNEL_API mind_status_t mind_runtime_recover(mind_runtime_t* rt);

/// As for f32. MIND_STATUS_INVALID_ARG if the tensor has another element type.
RINGKERNEL_API mind_status_t mind_tensor_write_i32(mind_runtime_t* rt, mind_tensor_t* tensor,
                                                   const int32_t* data, size_t len);
/// As for f32.
RINGKERNEL_API mind_status_t mind_tensor_read_i32(mind_runtime_t* rt, mind_tensor_t* tensor,
                                                  int32_t* data, size_t len);
/// As for f32.
RINGKERNEL_API mind_status_t mind_tensor_write_i64(mind_runtime_t* rt, mind_tensor_t* tensor,
                                                   const int64_t* data, size_t len);
/// As for f32.
RINGKERNEL_API mind_status_t mind_tensor_read_i64(mind_runtime_t* rt, mind_tensor_t* tensor,
                                                  int64_t* data, size_t len);

/// What the last function of this library that this thread called failed with, "E3003
/// dimension_mismatch: ..."; null if it did not fail. Valid until the thread's next call.
RINGKERNEL_API const char* mind_runtime_last_error(void);
/// Its exact code, of which the status is a coarse form: 3003 of E3003; those below 2000 are this
/// library's own (ringkernel.h). 0 if it did not fail.
RINGKERNEL_API int32_t mind_runtime_last_code(void);

#ifdef __cplusplus
}
#endif

#endif
