#include "ringkernel/ringkernel.h"

#include <mutex>
#include <string>
#include <tuple>

#include "capi/objects.hpp"
#include "capi/requests.hpp"
#include "foundation/scope_guard.hpp"
#include "ringkernel/ringkernel.hpp"
#include "ringkernel/version.hpp"

namespace ringkernel::capi {
namespace {

static_assert(RINGKERNEL_TARGET_GPU == static_cast<int>(BackendTarget::gpu) &&
              RINGKERNEL_TARGET_CPU == static_cast<int>(BackendTarget::cpu));
static_assert(RINGKERNEL_CREATED == static_cast<int>(KernelStatus::created) &&
              RINGKERNEL_LAUNCHED == static_cast<int>(KernelStatus::launched) &&
              RINGKERNEL_ACTIVE == static_cast<int>(KernelStatus::active) &&
              RINGKERNEL_DEACTIVATED == static_cast<int>(KernelStatus::deactivated) &&
              RINGKERNEL_TERMINATING == static_cast<int>(KernelStatus::terminating) &&
              RINGKERNEL_TERMINATED == static_cast<int>(KernelStatus::terminated) &&
              RINGKERNEL_FAILED == static_cast<int>(KernelStatus::failed));

/// Where there are objects of a runtime. Made when one is opened: its end needs no memory.
auto of_runtime() {
  return std::tie(Prepareds::table(), Functions::table(), Residents::table(), Kernels::table());
}

Result<void> open(const ringkernel_runtime_options* given, ringkernel_runtime** out_runtime) {
  if (out_runtime == nullptr) return null_argument("out_runtime");
  RK_TRY(options, read_options(given));
  (void)of_runtime();
  if (options.reserved != 0) return reserved_field(options.reserved);
  if (options.target < RINGKERNEL_TARGET_AUTOMATIC || options.target > RINGKERNEL_TARGET_GPU)
    return Error(Errc::invalid_argument,
                 "no target has the number " + std::to_string(options.target));
  RuntimeOptions runtime_options;
  if (options.arena_bytes != 0) runtime_options.arena_bytes = options.arena_bytes;
  if (options.call_timeout_ns != 0)
    runtime_options.call_timeout = to_duration(options.call_timeout_ns);
  if (options.termination_timeout_ns != 0)
    runtime_options.termination_timeout = to_duration(options.termination_timeout_ns);
  if (options.send_timeout_ns != 0)
    runtime_options.send_timeout = to_duration(options.send_timeout_ns);
  if (options.driver_timeout_ns != 0)
    runtime_options.driver_timeout = to_duration(options.driver_timeout_ns);
  if (options.turn_for_ns == UINT64_MAX)
    runtime_options.turn_for = {};  // to its end
  else if (options.turn_for_ns != 0)
    runtime_options.turn_for = to_duration(options.turn_for_ns);
  RK_TRY(runtime, RingKernelRuntime::builder()
                      .target(static_cast<BackendTarget>(options.target))
                      .backend(options.backend == nullptr ? "" : options.backend)
                      .options(runtime_options)
                      .build());
  *out_runtime = Runtimes::table().add(std::make_shared<RingKernelRuntime>(std::move(runtime)));
  return {};
}

Result<void> launch(const ringkernel_runtime* handle, const char* id,
                    const ringkernel_kernel_options* given, ringkernel_kernel** out_kernel) {
  RK_TRY(runtime, Runtimes::table().find(handle, "runtime"));
  if (id == nullptr) return null_argument("id");
  if (out_kernel == nullptr) return null_argument("out_kernel");
  RK_TRY(options, read_options(given));
  KernelOptions kernel_options;
  if (options.input_bytes != 0) kernel_options.input_bytes = options.input_bytes;
  if (options.output_bytes != 0) kernel_options.output_bytes = options.output_bytes;
  if (options.in_flight_max != 0) kernel_options.in_flight_max = options.in_flight_max;
  if (options.queue_max != 0) kernel_options.queue_max = options.queue_max;
  if (options.program != nullptr) kernel_options.program = options.program;
  if (options.behaviour != nullptr) kernel_options.behaviour = options.behaviour;
  auto object = std::make_shared<KernelObject>();
  object->runtime = runtime;
  RK_TRY(kernel, runtime->launch(id, kernel_options));
  ScopeGuard ending([&]() noexcept { (void)kernel.terminate(); });
  object->kernel = kernel;
  RK_TRY(program, runtime->program(kernel_options.program));
  object->takes_ops = program.takes_ops;
  object->reply_bytes = program.reply_bytes;
  *out_kernel = Kernels::table().add(std::move(object));
  ending.dismiss();
  return {};
}

Result<Reply> next_reply(KernelObject& object, std::uint64_t timeout_ns) {
  {
    const std::lock_guard lock(object.mutex);
    if (!object.left.empty()) {
      Reply reply = std::move(object.left.front());
      object.left.pop_front();
      return reply;
    }
  }
  return object.kernel.receive(to_duration(timeout_ns));
}

template <class Out>
Result<void> receive(KernelObject& object, std::uint64_t timeout_ns, Out& result,
                     std::uint64_t* out_message) {
  Result<Reply> reply = next_reply(object, timeout_ns);
  if (out_message != nullptr) *out_message = reply ? reply->id() : reply.error().message;
  if (!reply) return std::move(reply).error();
  Result<void> taken = take(*reply, result);
  if (!taken) {
    const std::lock_guard lock(object.mutex);
    object.left.push_front(std::move(*reply));
  }
  return taken;
}

}  // namespace
}  // namespace ringkernel::capi

// NOLINTBEGIN: the names of the C API
using namespace ringkernel;
using namespace ringkernel::capi;

const char* ringkernel_version(void) {
  static const std::string text = std::to_string(version_major) + "." +
                                  std::to_string(version_minor) + "." +
                                  std::to_string(version_patch);
  return text.c_str();
}

uint32_t ringkernel_abi_version(void) { return 1; }

const char* ringkernel_last_error(void) { return last_error_text(); }

ringkernel_status ringkernel_runtime_open(const ringkernel_runtime_options* options,
                                          ringkernel_runtime** out_runtime) {
  return guarded([&] { return open(options, out_runtime); });
}

ringkernel_status ringkernel_runtime_close(ringkernel_runtime* runtime) {
  return guarded([&]() -> Result<void> {
    RK_TRY(object, Runtimes::table().remove(runtime, "runtime"));
    if (object == nullptr) return {};
    Result<void> result = object->shutdown();
    const auto is_of_it = [&](const auto& other) { return other.runtime == object; };
    std::apply([&](auto&... tables) { (tables.remove_if(is_of_it), ...); }, of_runtime());
    return result;
  });
}

ringkernel_status ringkernel_kernel_launch(ringkernel_runtime* runtime, const char* id,
                                           const ringkernel_kernel_options* options,
                                           ringkernel_kernel** out_kernel) {
  return guarded([&] { return launch(runtime, id, options, out_kernel); });
}

ringkernel_status ringkernel_kernel_activate(ringkernel_kernel* kernel) {
  return with_kernel(kernel, [](KernelObject& object) { return object.kernel.activate(); });
}

ringkernel_status ringkernel_kernel_deactivate(ringkernel_kernel* kernel) {
  return with_kernel(kernel, [](KernelObject& object) { return object.kernel.deactivate(); });
}

ringkernel_status ringkernel_kernel_terminate(ringkernel_kernel* kernel, int32_t drain) {
  return with_kernel(
      kernel, [&](KernelObject& object) { return object.kernel.terminate({.drain = drain != 0}); });
}

ringkernel_status ringkernel_kernel_state(ringkernel_kernel* kernel, int32_t* out_state) {
  return with_kernel(kernel, [&](KernelObject& object) -> Result<void> {
    if (out_state == nullptr) return null_argument("out_state");
    *out_state = static_cast<int32_t>(object.kernel.status());
    return {};
  });
}

ringkernel_status ringkernel_kernel_close(ringkernel_kernel* kernel) {
  return guarded([&]() -> Result<void> {
    RK_TRY_VOID(Kernels::table().remove(kernel, "kernel"));
    return {};
  });
}

ringkernel_status ringkernel_call(ringkernel_kernel* kernel, const ringkernel_request* request,
                                  uint64_t timeout_ns, ringkernel_tensor* result) {
  return with_kernel(kernel, Kind::ops, [&](KernelObject& object) -> Result<void> {
    if (result == nullptr) return null_argument("result");
    Asked asked;
    RK_TRY_VOID(read_request(request, asked));
    RK_TRY_VOID(check_room(*result, asked.reply));
    RK_TRY(reply, object.kernel.call(asked.request, to_duration(timeout_ns)));
    copy_result(reply.tensor(), *result);
    return {};
  });
}

ringkernel_status ringkernel_send(ringkernel_kernel* kernel, const ringkernel_request* request,
                                  uint64_t timeout_ns, uint64_t* out_message) {
  return with_kernel(kernel, Kind::ops, [&](KernelObject& object) -> Result<void> {
    Asked asked;
    RK_TRY_VOID(read_request(request, asked));
    RK_TRY(message, object.kernel.send(asked.request, {.timeout = to_duration(timeout_ns)}));
    if (out_message != nullptr) *out_message = message;
    return {};
  });
}

ringkernel_status ringkernel_receive(ringkernel_kernel* kernel, uint64_t timeout_ns,
                                     ringkernel_tensor* result, uint64_t* out_message) {
  return with_kernel(kernel, Kind::ops, [&](KernelObject& object) -> Result<void> {
    if (result == nullptr) return null_argument("result");
    return receive(object, timeout_ns, *result, out_message);
  });
}

ringkernel_status ringkernel_call_bytes(ringkernel_kernel* kernel, const ringkernel_bytes* message,
                                        uint64_t timeout_ns, ringkernel_bytes* reply) {
  return with_kernel(kernel, Kind::bytes, [&](KernelObject& object) -> Result<void> {
    if (reply == nullptr) return null_argument("reply");
    RK_TRY(bytes, read_message(message));
    RK_TRY_VOID(check_room(*reply, object.reply_bytes != 0 ? object.reply_bytes : bytes.size()));
    RK_TRY(answer, object.kernel.call(bytes, to_duration(timeout_ns)));
    return take(answer, *reply);
  });
}

ringkernel_status ringkernel_send_bytes(ringkernel_kernel* kernel, const ringkernel_bytes* message,
                                        uint64_t timeout_ns, uint64_t* out_message) {
  return with_kernel(kernel, Kind::bytes, [&](KernelObject& object) -> Result<void> {
    RK_TRY(bytes, read_message(message));
    RK_TRY(id, object.kernel.send(bytes, {.timeout = to_duration(timeout_ns)}));
    if (out_message != nullptr) *out_message = id;
    return {};
  });
}

ringkernel_status ringkernel_receive_bytes(ringkernel_kernel* kernel, uint64_t timeout_ns,
                                           ringkernel_bytes* reply, uint64_t* out_message) {
  return with_kernel(kernel, Kind::bytes, [&](KernelObject& object) -> Result<void> {
    if (reply == nullptr) return null_argument("reply");
    return receive(object, timeout_ns, *reply, out_message);
  });
}
// NOLINTEND
