// Calls in flight, for C.
#include "ringkernel/ringkernel_async.h"

#include "capi/executions.hpp"
#include "capi/objects.hpp"
#include "capi/queue.hpp"
#include "capi/requests.hpp"

namespace ringkernel::capi {
namespace {

template <class Body>
Result<void> with_queue(const ringkernel_queue* handle, Body&& body) {
  RK_TRY(object, Queues::table().find(handle, "queue"));
  return body(*object);
}

Result<SendOptions> read_async_options(const ringkernel_async_options* given) {
  RK_TRY(raw, read_options(given));
  if (raw.reserved != 0) return reserved_field(raw.reserved);
  return SendOptions{.timeout = to_duration(raw.timeout_ns), .priority = raw.priority};
}

/// A message, bytes or a method's, whose reply has at most `reply_bytes`.
template <class Content>
Result<void> begin_bytes(KernelObject& kernel, const Content& content, std::uint64_t reply_bytes,
                         const ringkernel_async_options* given, const ringkernel_queue* handle,
                         std::uint64_t tag, ringkernel_bytes& reply) {
  RK_TRY(options, read_async_options(given));
  RK_TRY_VOID(check_room(reply, reply_bytes));
  return with_queue(handle, [&](QueueObject& queue) -> Result<void> {
    queue.begin<Reply>(
        tag, [&](auto token) { kernel.kernel.async_call(content, options, std::move(token)); },
        [&reply](const Reply& answer) { return take(answer, reply); });
    return {};
  });
}

/// Gives the completion and keeps its error for the thread, whose call has succeeded.
ringkernel_completion tell(const QueueObject::Ended& ended) noexcept {
  const bool has_failed = ended.error.code.failed();
  return {.struct_size = sizeof(ringkernel_completion),
          .tag = ended.tag,
          .status = set_last_error(has_failed ? &ended.error : nullptr),
          .reserved = 0};
}

/// Calls back for what is there, and waits for the first.
Result<void> run(QueueObject& queue, std::uint64_t timeout_ns, ringkernel_callback callback,
                 void* user) {
  Result<QueueObject::Ended> ended = queue.next(timeout_ns);
  if (!ended) return std::move(ended).error();
  // Calls that a callback begins may be over at once: those are for another run.
  for (std::size_t left = queue.size();; --left) {
    const ringkernel_completion completion = tell(*ended);
    callback(user, &completion);
    if (left == 0) break;
    set_last_version(0);
    ended = queue.next(0);
    if (!ended) break;
  }
  set_last_error(nullptr);
  set_last_version(0);
  return {};
}

}  // namespace
}  // namespace ringkernel::capi

// NOLINTBEGIN: the names of the C API
using namespace ringkernel;
using namespace ringkernel::capi;

ringkernel_status ringkernel_queue_open(ringkernel_queue** out_queue) {
  return guarded([&]() -> Result<void> {
    if (out_queue == nullptr) return null_argument("out_queue");
    RK_TRY(object, QueueObject::open());
    *out_queue = Queues::table().add(std::move(object));
    return {};
  });
}

ringkernel_status ringkernel_queue_descriptor(ringkernel_queue* handle, int* out_descriptor) {
  return guarded([&] {
    return with_queue(handle, [&](const QueueObject& queue) -> Result<void> {
      if (out_descriptor == nullptr) return null_argument("out_descriptor");
      *out_descriptor = queue.descriptor();
      return {};
    });
  });
}

ringkernel_status ringkernel_queue_close(ringkernel_queue* handle) {
  return guarded([&]() -> Result<void> {
    RK_TRY(object, Queues::table().remove(handle, "queue"));
    if (object != nullptr) object->close();
    return {};
  });
}

ringkernel_status ringkernel_call_async(ringkernel_kernel* kernel,
                                        const ringkernel_request* request,
                                        const ringkernel_async_options* given,
                                        ringkernel_queue* handle, uint64_t tag,
                                        ringkernel_tensor* result) {
  return with_kernel(kernel, Kind::ops, [&](KernelObject& object) -> Result<void> {
    if (result == nullptr) return null_argument("result");
    RK_TRY(options, read_async_options(given));
    Asked asked;
    RK_TRY_VOID(read_request(request, asked));
    RK_TRY_VOID(check_room(*result, asked.reply));
    return with_queue(handle, [&](QueueObject& queue) -> Result<void> {
      queue.begin<Reply>(
          tag,
          [&](auto token) { object.kernel.async_call(asked.request, options, std::move(token)); },
          [result](const Reply& reply) { return take(reply, *result); });
      return {};
    });
  });
}

ringkernel_status ringkernel_call_bytes_async(ringkernel_kernel* kernel,
                                              const ringkernel_bytes* message,
                                              const ringkernel_async_options* options,
                                              ringkernel_queue* queue, uint64_t tag,
                                              ringkernel_bytes* reply) {
  return with_kernel(kernel, Kind::bytes, [&](KernelObject& object) -> Result<void> {
    if (reply == nullptr) return null_argument("reply");
    RK_TRY(bytes, read_message(message));
    const std::uint64_t reply_bytes = object.reply_bytes != 0 ? object.reply_bytes : bytes.size();
    return begin_bytes(object, bytes, reply_bytes, options, queue, tag, *reply);
  });
}

ringkernel_status ringkernel_call_method_async(ringkernel_kernel* kernel,
                                               const ringkernel_method* method,
                                               const ringkernel_bytes* request,
                                               const ringkernel_async_options* options,
                                               ringkernel_queue* queue, uint64_t tag,
                                               ringkernel_bytes* reply) {
  return with_kernel(kernel, Kind::bytes, [&](KernelObject& object) -> Result<void> {
    if (reply == nullptr) return null_argument("reply");
    RK_TRY(message, read_method_message(method, request));
    return begin_bytes(object, message, message.method.reply_bytes, options, queue, tag, *reply);
  });
}

ringkernel_status ringkernel_function_execute_async(ringkernel_function* function,
                                                    const ringkernel_execution* given,
                                                    ringkernel_queue* handle, uint64_t tag) {
  return with_function(function, [&](FunctionObject& object) -> Result<void> {
    Execution execution;
    RK_TRY_VOID(read_execution(given, object.function.signature(), execution));
    return with_queue(handle, [&](QueueObject& queue) -> Result<void> {
      queue.begin<FunctionResult>(
          tag,
          [&](auto token) {
            object.function.async_execute(std::span<const TensorView>(execution.inputs),
                                          execution.options, std::move(token));
          },
          [places = execution.results](const FunctionResult& result) -> Result<void> {
            copy_results(result, places);
            return {};
          });
      return {};
    });
  });
}

ringkernel_status ringkernel_queue_cancel(ringkernel_queue* handle, uint64_t tag) {
  return guarded([&] {
    return with_queue(handle, [&](QueueObject& queue) -> Result<void> {
      queue.cancel(tag);
      return {};
    });
  });
}

ringkernel_status ringkernel_queue_next(ringkernel_queue* handle, uint64_t timeout_ns,
                                        ringkernel_completion* out_completion) {
  return guarded([&] {
    return with_queue(handle, [&](QueueObject& queue) -> Result<void> {
      if (out_completion == nullptr) return null_argument("out_completion");
      RK_TRY_VOID(read_options(out_completion));  // before anything is taken
      RK_TRY(ended, queue.next(timeout_ns));
      return write_info(tell(ended), out_completion, "out_completion");
    });
  });
}

ringkernel_status ringkernel_queue_run(ringkernel_queue* handle, uint64_t timeout_ns,
                                       ringkernel_callback callback, void* user) {
  return guarded([&] {
    return with_queue(handle, [&](QueueObject& queue) -> Result<void> {
      if (callback == nullptr) return null_argument("callback");
      return run(queue, timeout_ns, callback, user);
    });
  });
}
// NOLINTEND
