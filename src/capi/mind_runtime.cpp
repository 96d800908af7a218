#include "ringkernel/mind_runtime.h"

#include <boost/asio/detached.hpp>
#include <cstring>
#include <optional>
#include <span>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "ringkernel/mind_runtime.hpp"

namespace ringkernel::capi {
namespace {

/// Without a runtime it is the one that does nothing.
struct MindObject {
  std::optional<MindRuntime> runtime;
};

struct MindTensorObject {
  std::shared_ptr<MindObject> owner;
  Tensor tensor;    // empty where the runtime does nothing
  TensorDesc desc;  // also then
};

using MindRuntimes = Handles<mind_runtime_t, MindObject>;
using MindTensors = Handles<mind_tensor_t, MindTensorObject>;

/// What a code of the specification is in the coarse status of the published API.
mind_status_t to_status(int code) noexcept {
  if (code == 0) return MIND_STATUS_OK;
  if (code >= 2000 && code < 6000) return MIND_STATUS_INVALID_ARG;
  switch (static_cast<Errc>(code)) {
    case Errc::out_of_bounds:
    case Errc::index_out_of_bounds:
    case Errc::invalid_argument:
    case Errc::tensor_not_found: return MIND_STATUS_INVALID_ARG;
    case Errc::backend_unavailable:
    case Errc::unsupported_operation:
    case Errc::unsupported: return MIND_STATUS_UNSUPPORTED;
    case Errc::internal: return MIND_STATUS_INTERNAL_ERROR;
    default: return MIND_STATUS_RUNTIME_ERROR;
  }
}

template <class Body>
mind_status_t guarded_status(Body&& body) noexcept {
  return to_status(guarded(std::forward<Body>(body)));
}

Result<DType> to_dtype(mind_dtype_t dtype) {
  switch (dtype) {
    case MIND_DTYPE_F32: return DType::f32;
    case MIND_DTYPE_I32: return DType::i32;
    case MIND_DTYPE_I64: return DType::i64;
    case MIND_DTYPE_U8:
    case MIND_DTYPE_F16:
      return Error(Errc::unsupported, "tensors are f32, i32 or i64, not u8 or f16");
    case MIND_DTYPE_MAX_ENUM: break;
  }
  return Error(Errc::invalid_argument,
               "no element type has the number " + std::to_string(static_cast<int>(dtype)));
}

Result<void> open(mind_device_t device, const mind_runtime_options_t* given,
                  mind_runtime_t** out_rt) {
  if (out_rt == nullptr) return null_argument("out_rt");
  RK_TRY(options, read_options(given));
  if (options.reserved != 0) return reserved_field(options.reserved);
  auto object = std::make_shared<MindObject>();
  if (device != MIND_DEVICE_NOOP) {
    if (device != MIND_DEVICE_CPU && device != MIND_DEVICE_GPU)
      return Error(Errc::invalid_argument,
                   "no device has the number " + std::to_string(static_cast<int>(device)));
    MindOptions mind;
    if (options.backend != nullptr) mind.backend = options.backend;
    if (options.arena_bytes != 0) mind.runtime.arena_bytes = options.arena_bytes;
    if (options.queues != 0) mind.queues = options.queues;
    mind.op_timeout = to_duration(options.op_timeout_ns);
    RK_TRY(runtime, MindRuntime::open(
                        device == MIND_DEVICE_CPU ? BackendTarget::cpu : BackendTarget::gpu, mind));
    object->runtime.emplace(std::move(runtime));
  }
  *out_rt = MindRuntimes::table().add(std::move(object));
  return {};
}

Result<void> allocate(const mind_runtime_t* rt, mind_dtype_t dtype, const std::int64_t* shape,
                      std::size_t rank, mind_tensor_t** out_tensor) {
  RK_TRY(runtime, MindRuntimes::table().find(rt, "rt"));
  if (out_tensor == nullptr) return null_argument("out_tensor");
  if (shape == nullptr && rank != 0) return null_argument("shape");
  RK_TRY(type, to_dtype(dtype));
  if (rank > rank_max)  // before so much of `shape` is looked at
    return Error(Errc::rank_mismatch, "rank " + std::to_string(rank) + " exceeds the limit of " +
                                          std::to_string(rank_max));
  RK_TRY(extents, Shape::make(std::span(shape, rank)));
  auto tensor = std::make_shared<MindTensorObject>();
  tensor->owner = runtime;
  tensor->desc = {type, extents};
  if (runtime->runtime) {
    RK_TRY(allocated, runtime->runtime->allocate(tensor->desc));
    tensor->tensor = allocated;
  }
  *out_tensor = MindTensors::table().add(std::move(tensor));
  return {};
}

struct Found {
  std::shared_ptr<MindObject> runtime;
  std::shared_ptr<MindTensorObject> tensor;
};

/// The two, which belong together.
Result<Found> find(const mind_runtime_t* rt, const mind_tensor_t* handle) {
  RK_TRY(runtime, MindRuntimes::table().find(rt, "rt"));
  RK_TRY(tensor, MindTensors::table().find(handle, "tensor"));
  if (tensor->owner != runtime)
    return Error(Errc::tensor_not_found, "the tensor belongs to another runtime");
  return Found{runtime, tensor};
}

/// The checks of a copy that the runtime itself makes, for the one that does nothing.
template <class T>
Result<void> check_copy(const TensorDesc& desc, std::size_t len) {
  if (desc.dtype != dtype_of<T>)
    return Error(Errc::dtype_mismatch, desc.text() + ", against elements of " + name(dtype_of<T>));
  if (desc.element_count() != len)
    return Error(Errc::element_count_mismatch,
                 desc.text() + ", against " + std::to_string(len) + " elements");
  return {};
}

template <class T>
mind_status_t write(const mind_runtime_t* rt, const mind_tensor_t* tensor, const T* data,
                    std::size_t len) noexcept {
  return guarded_status([&]() -> Result<void> {
    RK_TRY(found, find(rt, tensor));
    if (data == nullptr) return null_argument("data");
    RK_TRY_VOID(check_copy<T>(found.tensor->desc, len));
    if (!found.runtime->runtime) return {};
    return found.runtime->runtime->write(found.tensor->tensor, std::span(data, len));
  });
}

template <class T>
mind_status_t read(const mind_runtime_t* rt, const mind_tensor_t* tensor, T* data,
                   std::size_t len) noexcept {
  return guarded_status([&]() -> Result<void> {
    RK_TRY(found, find(rt, tensor));
    if (data == nullptr) return null_argument("data");
    RK_TRY_VOID(check_copy<T>(found.tensor->desc, len));
    if (found.runtime->runtime)
      return found.runtime->runtime->read(found.tensor->tensor, std::span(data, len));
    std::memset(data, 0, len * sizeof(T));  // as allocated: no op has done anything
    return {};
  });
}

/// The tensors of an op. `count_max` bounds what is read from the caller's array.
Result<std::vector<Tensor>> find_all(const std::shared_ptr<MindObject>& runtime,
                                     mind_tensor_t* const* handles, std::size_t count,
                                     std::size_t count_max, const char* what) {
  if (handles == nullptr && count != 0) return null_argument(what);
  if (count > count_max)
    return Error(Errc::arity_mismatch, std::to_string(count) + " " + what +
                                           ", no op has more than " + std::to_string(count_max));
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string which = std::string(what) + "[" + std::to_string(i) + "]";
    RK_TRY(tensor, MindTensors::table().find(handles[i], which.c_str()));
    if (tensor->owner != runtime)
      return Error(Errc::tensor_not_found, which + " belongs to another runtime");
    tensors.push_back(tensor->tensor);
  }
  return tensors;
}

struct OpCall {
  const mind_runtime_t* rt;
  const char* name;
  const char* attributes;
  mind_tensor_t* const* inputs;
  std::size_t input_count;
  mind_tensor_t* const* outputs;
  std::size_t output_count;
};

/// "Sum" and "[1], false" of one operand: "Sum(%0, [1], false)".
std::string with_attributes(const OpCall& call) {
  std::string text = std::string(call.name) + "(";
  for (std::size_t i = 0; i < call.input_count; ++i)
    text += (i == 0 ? "%" : ", %") + std::to_string(i);
  const std::string_view attributes = call.attributes;
  const bool none = attributes.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (!none) text += (call.input_count == 0 ? "" : ", ") + std::string(attributes);
  return text + ")";
}

mind_status_t run(const OpCall& call, bool wait) noexcept {
  return guarded_status([&]() -> Result<void> {
    RK_TRY(runtime, MindRuntimes::table().find(call.rt, "rt"));
    if (call.name == nullptr) return null_argument("op_name");
    RK_TRY(inputs, find_all(runtime, call.inputs, call.input_count, inputs_max, "inputs"));
    RK_TRY(outputs, find_all(runtime, call.outputs, call.output_count, 1, "outputs"));
    if (!runtime->runtime) return {};
    const std::string text = call.attributes == nullptr ? call.name : with_attributes(call);
    if (wait) return runtime->runtime->run_op(text, inputs, outputs);
    runtime->runtime->run_op_async(text, inputs, outputs, {}, boost::asio::detached);
    return {};
  });
}

}  // namespace
}  // namespace ringkernel::capi

// NOLINTBEGIN: the names of the published API
using namespace ringkernel;
using namespace ringkernel::capi;

mind_status_t mind_runtime_new(mind_device_t device, mind_runtime_t** out_rt) {
  return mind_runtime_open(device, nullptr, out_rt);
}

mind_status_t mind_runtime_open(mind_device_t device, const mind_runtime_options_t* options,
                                mind_runtime_t** out_rt) {
  return guarded_status([&] { return open(device, options, out_rt); });
}

void mind_runtime_free(mind_runtime_t* rt) {
  (void)guarded([&]() -> Result<void> {
    if (rt == nullptr) return {};
    RK_TRY(runtime, MindRuntimes::table().remove(rt, "rt"));
    if (runtime == nullptr) return {};
    MindTensors::table().remove_if(
        [&](const MindTensorObject& tensor) { return tensor.owner == runtime; });
    return {};
  });
}

mind_status_t mind_tensor_alloc(mind_runtime_t* rt, mind_dtype_t dtype, const int64_t* shape,
                                size_t rank, mind_tensor_t** out_tensor) {
  return guarded_status([&] { return allocate(rt, dtype, shape, rank, out_tensor); });
}

void mind_tensor_free(mind_runtime_t* rt, mind_tensor_t* tensor) {
  (void)guarded([&]() -> Result<void> {
    if (tensor == nullptr) return {};
    const Result<Found> found = find(rt, tensor);
    if (!found && !(found.error() == Errc::invalid_state)) return found.error();
    RK_TRY_VOID(MindTensors::table().remove(tensor, "tensor"));
    return {};
  });
}

mind_status_t mind_tensor_write_f32(mind_runtime_t* rt, mind_tensor_t* tensor, const float* data,
                                    size_t len) {
  return write(rt, tensor, data, len);
}
mind_status_t mind_tensor_read_f32(mind_runtime_t* rt, mind_tensor_t* tensor, float* data,
                                   size_t len) {
  return read(rt, tensor, data, len);
}
mind_status_t mind_tensor_write_i32(mind_runtime_t* rt, mind_tensor_t* tensor, const int32_t* data,
                                    size_t len) {
  return write(rt, tensor, data, len);
}
mind_status_t mind_tensor_read_i32(mind_runtime_t* rt, mind_tensor_t* tensor, int32_t* data,
                                   size_t len) {
  return read(rt, tensor, data, len);
}
mind_status_t mind_tensor_write_i64(mind_runtime_t* rt, mind_tensor_t* tensor, const int64_t* data,
                                    size_t len) {
  return write(rt, tensor, data, len);
}
mind_status_t mind_tensor_read_i64(mind_runtime_t* rt, mind_tensor_t* tensor, int64_t* data,
                                   size_t len) {
  return read(rt, tensor, data, len);
}

mind_status_t mind_runtime_run_op(mind_runtime_t* rt, const char* op_name,
                                  mind_tensor_t* const* inputs, size_t num_inputs,
                                  mind_tensor_t* const* outputs, size_t num_outputs) {
  return run({rt, op_name, nullptr, inputs, num_inputs, outputs, num_outputs}, true);
}
mind_status_t mind_runtime_run_op_attr(mind_runtime_t* rt, const char* op_name,
                                       const char* attributes, mind_tensor_t* const* inputs,
                                       size_t num_inputs, mind_tensor_t* const* outputs,
                                       size_t num_outputs) {
  return run({rt, op_name, attributes, inputs, num_inputs, outputs, num_outputs}, true);
}
mind_status_t mind_runtime_run_op_async(mind_runtime_t* rt, const char* op_name,
                                        const char* attributes, mind_tensor_t* const* inputs,
                                        size_t num_inputs, mind_tensor_t* const* outputs,
                                        size_t num_outputs) {
  return run({rt, op_name, attributes, inputs, num_inputs, outputs, num_outputs}, false);
}

mind_status_t mind_runtime_synchronize(mind_runtime_t* rt) {
  return guarded_status([&]() -> Result<void> {
    RK_TRY(runtime, MindRuntimes::table().find(rt, "rt"));
    return runtime->runtime ? runtime->runtime->synchronize() : Result<void>();
  });
}

mind_status_t mind_runtime_recover(mind_runtime_t* rt) {
  return guarded_status([&]() -> Result<void> {
    RK_TRY(runtime, MindRuntimes::table().find(rt, "rt"));
    return runtime->runtime ? runtime->runtime->recover() : Result<void>();
  });
}

const char* mind_runtime_last_error(void) { return last_error_text(); }
int32_t mind_runtime_last_code(void) { return last_error_code(); }
// NOLINTEND
