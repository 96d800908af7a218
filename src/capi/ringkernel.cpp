#include "ringkernel/ringkernel.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <span>

#include "capi/objects.hpp"
#include "foundation/scope_guard.hpp"
#include "ops/ir_text.hpp"
#include "ringkernel/ringkernel.hpp"
#include "ringkernel/version.hpp"

namespace ringkernel::capi {
namespace {

static_assert(RINGKERNEL_NONE == static_cast<int>(DType::none) &&
              RINGKERNEL_F32 == static_cast<int>(DType::f32) &&
              RINGKERNEL_I32 == static_cast<int>(DType::i32) &&
              RINGKERNEL_I64 == static_cast<int>(DType::i64));
static_assert(RINGKERNEL_RANK_MAX == rank_max);
static_assert(RINGKERNEL_TARGET_GPU == static_cast<int>(BackendTarget::gpu) &&
              RINGKERNEL_TARGET_CPU == static_cast<int>(BackendTarget::cpu));
static_assert(RINGKERNEL_CREATED == static_cast<int>(KernelStatus::created) &&
              RINGKERNEL_LAUNCHED == static_cast<int>(KernelStatus::launched) &&
              RINGKERNEL_ACTIVE == static_cast<int>(KernelStatus::active) &&
              RINGKERNEL_DEACTIVATED == static_cast<int>(KernelStatus::deactivated) &&
              RINGKERNEL_TERMINATING == static_cast<int>(KernelStatus::terminating) &&
              RINGKERNEL_TERMINATED == static_cast<int>(KernelStatus::terminated) &&
              RINGKERNEL_FAILED == static_cast<int>(KernelStatus::failed));

Result<TensorDesc> to_desc(const ringkernel_tensor& tensor, const std::string& what) {
  if (tensor.dtype < RINGKERNEL_F32 || tensor.dtype > RINGKERNEL_I64)
    return Error(Errc::invalid_argument,
                 what + " has no element type: " + std::to_string(tensor.dtype));
  if (tensor.rank > rank_max)
    return Error(Errc::rank_mismatch, what + " has rank " + std::to_string(tensor.rank) +
                                          ", the limit is " + std::to_string(rank_max));
  RK_TRY(shape, Shape::make(std::span(tensor.dims, tensor.rank)));
  return TensorDesc{static_cast<DType>(tensor.dtype), shape};
}

/// The request and the descriptor of its result, from the caller's.
struct Asked {
  Request request;
  TensorDesc result;
};

/// "Sum(%0, [1], false)": the operands are of the inputs, each of which is one.
Result<void> read_operation(const ringkernel_request& raw, std::span<const TensorView> inputs,
                            Request& request) {
  if (raw.attributes != nullptr)
    return Error(Errc::invalid_argument, "the attributes are given twice, with the op and alone");
  RK_TRY(operation, ops::parse_operation(raw.op));
  request.op = operation.op;
  request.input_count = operation.operand_count;
  request.attributes = operation.attributes;
  std::uint32_t named = 0;
  for (std::size_t i = 0; i < operation.operand_count; ++i) {
    const std::string_view name = operation.operands[i];
    std::size_t number = 0;
    const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (status != std::errc() || end != name.data() + name.size() || number >= inputs.size())
      return Error(Errc::invalid_argument, "%" + ops::excerpt(name) + " is none of the " +
                                               std::to_string(inputs.size()) +
                                               " inputs, which begin with %0");
    request.inputs[i] = inputs[number];
    named |= 1u << number;
  }
  if (named + 1 != 1u << inputs.size())
    return Error(Errc::arity_mismatch, "an input is not named by '" + ops::excerpt(raw.op) + "'");
  return {};
}

/// The op with its attributes, in either form.
Result<void> read_op(const ringkernel_request& raw, std::span<const TensorView> inputs,
                     Request& request) {
  if (std::string_view(raw.op).find('(') != std::string_view::npos)
    return read_operation(raw, inputs, request);
  ops::IrCursor name(raw.op);
  RK_TRY(op, ops::read_opcode(name));
  if (!name.at_end()) return name.expected("'(' or the end");
  request.op = op;
  request.input_count = static_cast<std::uint32_t>(inputs.size());
  std::ranges::copy(inputs, request.inputs.begin());
  // The number of operands comes first: attributes are those of an op that has its operands.
  if (find_op(static_cast<std::uint16_t>(op))->input_count != inputs.size()) return {};
  RK_TRY(attributes, ops::parse_attributes(raw.attributes == nullptr ? "" : raw.attributes, op));
  request.attributes = attributes;
  return {};
}

Result<Asked> read_request(const ringkernel_request* given) {
  if (given == nullptr) return null_argument("request");
  RK_TRY(raw, read_options(given));
  if (raw.op == nullptr) return null_argument("request->op");
  if (raw.inputs == nullptr && raw.input_count != 0) return null_argument("request->inputs");
  if (raw.input_count > inputs_max)
    return Error(Errc::arity_mismatch, std::to_string(raw.input_count) + " inputs, no op has more" +
                                           " than " + std::to_string(inputs_max));
  Asked asked;
  std::array<TensorView, inputs_max> given_inputs{};
  for (std::size_t i = 0; i < raw.input_count; ++i) {
    const ringkernel_tensor& tensor = raw.inputs[i];
    const std::string what = "request->inputs[" + std::to_string(i) + "]";
    RK_TRY(desc, to_desc(tensor, what));
    if (tensor.data == nullptr) return null_argument((what + ".data").c_str());
    if (tensor.data_bytes != desc.bytes())
      return Error(Errc::element_count_mismatch, what + " is " + desc.text() + ", which is " +
                                                     std::to_string(desc.bytes()) + " bytes, not " +
                                                     std::to_string(tensor.data_bytes));
    given_inputs[i] = TensorView(desc, tensor.data);
  }
  RK_TRY_VOID(read_op(raw, std::span(given_inputs).first(raw.input_count), asked.request));
  std::array<TensorDesc, inputs_max> descs{};
  for (std::size_t i = 0; i < asked.request.input_count; ++i)
    descs[i] = asked.request.inputs[i].desc;
  const std::span inputs = std::span(descs).first(asked.request.input_count);
  RK_TRY(inference, infer(asked.request.op, inputs, asked.request.attributes));
  asked.result = inference.output;
  return asked;
}

using capi::check_room;  // for bytes
Result<void> check_room(ringkernel_tensor& result, const TensorDesc& desc) {
  const std::uint64_t bytes = desc.bytes();
  if (result.data_bytes >= bytes && (bytes == 0 || result.data != nullptr)) return {};
  const std::uint64_t room = result.data == nullptr ? 0 : result.data_bytes;
  result.data_bytes = bytes;
  return Error(Errc::message_too_large, "the result is " + desc.text() + ", " +
                                            std::to_string(bytes) + " bytes; there is room for " +
                                            std::to_string(room));
}

/// There is room.
void copy_result(const TensorView& view, ringkernel_tensor& result) {
  result.dtype = static_cast<std::int32_t>(view.desc.dtype);
  result.rank = static_cast<std::uint32_t>(view.desc.shape.rank());
  for (std::size_t dim = 0; dim < view.desc.shape.rank(); ++dim)
    result.dims[dim] = view.desc.shape[dim];
  result.data_bytes = view.desc.bytes();
  if (result.data_bytes != 0) std::memcpy(result.data, view.data, result.data_bytes);
}

using capi::take;  // for bytes
Result<void> take(const Reply& reply, ringkernel_tensor& result) {
  RK_TRY_VOID(check_room(result, reply.tensor().desc));
  copy_result(reply.tensor(), result);
  return {};
}
Result<void> open(const ringkernel_runtime_options* given, ringkernel_runtime** out_runtime) {
  if (out_runtime == nullptr) return null_argument("out_runtime");
  RK_TRY(options, read_options(given));
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
    Kernels::table().remove_if(
        [&](const KernelObject& kernel) { return kernel.runtime == object; });
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
    RK_TRY(asked, read_request(request));
    RK_TRY_VOID(check_room(*result, asked.result));
    RK_TRY(reply, object.kernel.call(asked.request, to_duration(timeout_ns)));
    copy_result(reply.tensor(), *result);
    return {};
  });
}

ringkernel_status ringkernel_send(ringkernel_kernel* kernel, const ringkernel_request* request,
                                  uint64_t timeout_ns, uint64_t* out_message) {
  return with_kernel(kernel, Kind::ops, [&](KernelObject& object) -> Result<void> {
    RK_TRY(asked, read_request(request));
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
