/// Many calls in flight for C, and for event loops of any language: calls that do not wait, and
/// whose ends one queue gives, which has one descriptor for epoll, libuv and their like.
///
///     ringkernel_queue* queue;
///     ringkernel_queue_open(&queue);
///     ringkernel_call_async(kernel, &request, NULL, queue, 7, &result);
///     ...                          // epoll says that the descriptor is readable
///     ringkernel_completion ended = {.struct_size = sizeof ended};
///     while (ringkernel_queue_next(queue, 0, &ended) == 0)
///       use(ended.tag, ended.status);
///
/// Threading: every function from any thread, on shared handles too. The library writes results,
/// and calls back, only in threads that call `ringkernel_queue_next` or `ringkernel_queue_run`.
/// Ownership: as in ringkernel.h, but for results: their places, and the memory that these name,
/// belong to the call until its completion has been given, or `ringkernel_queue_close` has returned
/// while nobody is in `next` or `run`. Inputs are the caller's again when the function returns.
/// Errors: as in ringkernel.h, with `ringkernel_last_error`. An error of a function that begins a
/// call: nothing was begun, and no completion comes. Otherwise one completion comes, whatever
/// becomes of kernel and runtime.
/// Units: `_ns` nanoseconds.
#ifndef RINGKERNEL_RINGKERNEL_ASYNC_H
#define RINGKERNEL_RINGKERNEL_ASYNC_H

#include "ringkernel/ringkernel.h"
#include "ringkernel/ringkernel_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where calls end.
typedef struct ringkernel_queue ringkernel_queue;

/// Of one call; null: the defaults.
typedef struct ringkernel_async_options {
  size_t struct_size;  /* sizeof(ringkernel_async_options) */
  uint64_t timeout_ns; /* 0: call_timeout_ns, and the calling thread may run the op */
  int32_t priority;    /* higher goes first among those still queued on the host */
  uint32_t reserved;   /* 0 */
} ringkernel_async_options;

/// How a call ended.
typedef struct ringkernel_completion {
  size_t struct_size; /* sizeof(ringkernel_completion), set by the caller */
  uint64_t tag;       /* as given with the call */
  ringkernel_status status;
  uint32_t reserved; /* 0 */
} ringkernel_completion;

/// limit_exceeded: the process has no descriptor left.
RINGKERNEL_API ringkernel_status ringkernel_queue_open(ringkernel_queue** out_queue);
/// To wait for, never to be read or closed: readable from the moment that a completion is there
/// until `next` has found none (deadline_exceeded). So call it until then.
RINGKERNEL_API ringkernel_status ringkernel_queue_descriptor(ringkernel_queue* queue,
                                                             int* out_descriptor);
/// Cancels what is under way, whose completions nobody gets; a thread in `next` or `run` returns
/// with invalid_state. Closes the descriptor, at the latest when these have returned.
RINGKERNEL_API ringkernel_status ringkernel_queue_close(ringkernel_queue* queue);

/// Begins what the function without `_async` does, with its errors: those of the request and
/// message_too_large are this function's, the others the completion's status. `result` is filled by
/// the thread that takes the completion. `tag` is any number, and may be used for several calls.
RINGKERNEL_API ringkernel_status ringkernel_call_async(ringkernel_kernel* kernel,
                                                       const ringkernel_request* request,
                                                       const ringkernel_async_options* options,
                                                       ringkernel_queue* queue, uint64_t tag,
                                                       ringkernel_tensor* result);
/// As `ringkernel_call_async`, with plain bytes.
RINGKERNEL_API ringkernel_status
ringkernel_call_bytes_async(ringkernel_kernel* kernel, const ringkernel_bytes* message,
                            const ringkernel_async_options* options, ringkernel_queue* queue,
                            uint64_t tag, ringkernel_bytes* reply);
/// As `ringkernel_call_async`, of a method.
RINGKERNEL_API ringkernel_status ringkernel_call_method_async(
    ringkernel_kernel* kernel, const ringkernel_method* method, const ringkernel_bytes* request,
    const ringkernel_async_options* options, ringkernel_queue* queue, uint64_t tag,
    ringkernel_bytes* reply);
/// Timeout and priority are the execution's. Its `results` have to stay; all else need not.
RINGKERNEL_API ringkernel_status ringkernel_function_execute_async(
    ringkernel_function* function, const ringkernel_execution* execution, ringkernel_queue* queue,
    uint64_t tag);
/// For a loop that must not wait: `ringkernel_prepared_call`, if this thread can run it here and
/// now. `*out_made` is then 1; else it is 0, and nothing was sent: begin it asynchronously.
RINGKERNEL_API ringkernel_status ringkernel_prepared_try_call(
    ringkernel_prepared* prepared, const ringkernel_tensor* inputs, size_t input_count,
    ringkernel_tensor* results, size_t result_count, int32_t* out_made);

/// Cancels the calls under way with that tag: each ends with the status cancelled, unless it ends
/// otherwise first. What the device has already is executed all the same. No such call: no error.
RINGKERNEL_API ringkernel_status ringkernel_queue_cancel(ringkernel_queue* queue, uint64_t tag);

/// The next completion, with its results written. Waits until there is one: zero timeout: not at
/// all; UINT64_MAX: for ever. deadline_exceeded: there was none in time. Where `status` is not 0,
/// `ringkernel_last_error` and `ringkernel_last_fault` tell of that.
RINGKERNEL_API ringkernel_status ringkernel_queue_next(ringkernel_queue* queue, uint64_t timeout_ns,
                                                       ringkernel_completion* out_completion);

/// As `next`, with a function that is called for each completion that is there by then, in the
/// calling thread; it may begin calls, cancel and close. deadline_exceeded: there was none.
typedef void (*ringkernel_callback)(void* user, const ringkernel_completion* completion);
/// Calls `callback` for each completion that is there, once there is one.
RINGKERNEL_API ringkernel_status ringkernel_queue_run(ringkernel_queue* queue, uint64_t timeout_ns,
                                                      ringkernel_callback callback, void* user);

#ifdef __cplusplus
}
#endif

#endif
