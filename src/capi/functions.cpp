// Compiled functions, for C.
#include <string>
#include <utility>

#include "capi/executions.hpp"
#include "ringkernel/mlir.hpp"
#include "ringkernel/onnx.hpp"

namespace ringkernel::capi {
namespace {

Result<FunctionOptions> read_function_options(const ringkernel_function_options* given) {
  RK_TRY(raw, read_options(given));
  FunctionOptions options;
  if (raw.in_flight_max != 0) options.in_flight_max = raw.in_flight_max;
  if (raw.queue_max != 0) options.queue_max = raw.queue_max;
  options.message_bytes_max = raw.message_bytes_max;
  return options;
}

/// A list of the caller's, of which no entry is null: `null_argument` with its name.
Result<std::span<const char* const>> read_names(const char* const* names, std::size_t count,
                                                const char* what) {
  if (names == nullptr && count != 0) return null_argument(what);
  const std::span<const char* const> given(names, count);
  for (const char* const name : given)
    if (name == nullptr) return null_argument(what);
  return given;
}

Result<onnx::Options> read_onnx_options(const ringkernel_onnx_model& raw) {
  onnx::Options options;
  if (raw.name != nullptr) options.name = raw.name;
  if (raw.inputs == nullptr && raw.input_count != 0) return null_argument("model->inputs");
  for (std::size_t i = 0; i < raw.input_count; ++i) {
    const ringkernel_onnx_input& input = raw.inputs[i];
    if (input.name == nullptr) return null_argument("a name of model->inputs");
    if (input.reserved != 0) return reserved_field(input.reserved);
    if (input.rank > rank_max)
      return Error(Errc::rank_mismatch, "input '" + std::string(input.name) + "' has rank " +
                                            std::to_string(input.rank) + ", the limit is " +
                                            std::to_string(rank_max));
    options.inputs[input.name].assign(input.dims, input.dims + input.rank);
  }
  RK_TRY(outputs, read_names(raw.outputs, raw.output_count, "model->outputs"));
  options.outputs.assign(outputs.begin(), outputs.end());
  RK_TRY(kept, read_names(raw.state_inputs, raw.state_count, "model->state_inputs"));
  RK_TRY(next, read_names(raw.state_outputs, raw.state_count, "model->state_outputs"));
  for (std::size_t i = 0; i < raw.state_count; ++i) options.state[kept[i]] = next[i];
  return options;
}

Result<Graph> read_model(const ringkernel_onnx_model* given) {
  if (given == nullptr) return null_argument("model");
  RK_TRY(raw, read_options(given));
  RK_TRY(options, read_onnx_options(raw));
  if (raw.file != nullptr) return onnx::read_file(raw.file, options);
  if (raw.data == nullptr) return null_argument("model->data");
  return onnx::read({static_cast<const std::byte*>(raw.data), raw.data_bytes}, options);
}

Result<mlir::Options> read_mlir_options(const ringkernel_mlir_module& raw) {
  mlir::Options options;
  if (raw.name != nullptr) options.name = raw.name;
  if (raw.function != nullptr) options.function = raw.function;
  if (raw.library != nullptr) options.library = raw.library;
  if (raw.state_count == 0) return options;
  if (raw.state_arguments == nullptr) return null_argument("module->state_arguments");
  if (raw.state_results == nullptr) return null_argument("module->state_results");
  for (std::size_t i = 0; i < raw.state_count; ++i) {
    const std::size_t argument = raw.state_arguments[i];
    if (!options.state.emplace(argument, raw.state_results[i]).second)
      return Error(Errc::invalid_argument,
                   "argument " + std::to_string(argument) + " is in module->state_arguments twice");
  }
  return options;
}

/// Each of them, and then its notes.
void tell(const Diagnostics& told, const ringkernel_mlir_module& raw) {
  for (const Diagnostic& one : told) {
    const ringkernel_diagnostic diagnostic{.struct_size = sizeof diagnostic,
                                           .severity = static_cast<std::int32_t>(one.severity),
                                           .line = one.at.line,
                                           .column = one.at.column,
                                           .reserved = 0,
                                           .file = one.at.file.c_str(),
                                           .text = one.message.c_str()};
    raw.diagnostic(raw.user, &diagnostic);
    tell(one.notes, raw);
  }
}

Result<Graph> read_module(const ringkernel_mlir_module* given) {
  if (given == nullptr) return null_argument("module");
  RK_TRY(raw, read_options(given));
  if (raw.text == nullptr) return null_argument("module->text");
  RK_TRY(options, read_mlir_options(raw));
  Diagnostics told;
  options.diagnostics = &told;
  const std::string_view text =
      raw.text_bytes == 0 ? std::string_view(raw.text) : std::string_view(raw.text, raw.text_bytes);
  Result<Graph> graph = mlir::read(text, options);
  if (raw.diagnostic != nullptr) tell(told, raw);
  return graph;
}

Result<void> compile(const std::shared_ptr<RingKernelRuntime>& runtime, const Graph& graph,
                     const ringkernel_function_options* given, ringkernel_function** out_function) {
  if (out_function == nullptr) return null_argument("out_function");
  RK_TRY(options, read_function_options(given));
  auto object = std::make_shared<FunctionObject>();
  object->runtime = runtime;
  RK_TRY(function, runtime->compile(graph, options));
  object->function = std::move(function);
  *out_function = Functions::table().add(std::move(object));
  return {};
}

/// What has that number among the inputs, outputs or states.
Result<void> describe_port(const FunctionSignature& signature, std::int32_t port,
                           std::size_t number, ringkernel_tensor& out_tensor,
                           const char** out_name) {
  const std::vector<TensorDesc>* descs = nullptr;
  const std::vector<std::string>* names = nullptr;
  switch (port) {
    case RINGKERNEL_INPUT:
      descs = &signature.inputs;
      names = &signature.input_names;
      break;
    case RINGKERNEL_OUTPUT:
      descs = &signature.outputs;
      names = &signature.output_names;
      break;
    case RINGKERNEL_STATE:
      descs = &signature.states;
      names = &signature.state_names;
      break;
    default:
      return Error(Errc::invalid_argument,
                   "no kind of port has the number " + std::to_string(port));
  }
  if (number >= descs->size())
    return Error(Errc::invalid_argument, "'" + signature.name + "' has " +
                                             std::to_string(descs->size()) + " of these, and no " +
                                             std::to_string(number));
  describe((*descs)[number], out_tensor);
  if (out_name != nullptr) *out_name = (*names)[number].c_str();
  return {};
}

Result<void> prepare_function(FunctionObject& function, ringkernel_prepared** out_prepared) {
  if (out_prepared == nullptr) return null_argument("out_prepared");
  RK_TRY(call, function.function.prepare());
  const FunctionSignature& signature = function.function.signature();
  auto object =
      std::make_shared<PreparedObject>(PreparedObject{.runtime = function.runtime,
                                                      .call = std::move(call),
                                                      .input_count = signature.inputs.size(),
                                                      .results = signature.outputs});
  for (std::size_t i = 0; i < signature.inputs.size(); ++i)
    object->operands.push_back(static_cast<std::uint8_t>(i));
  *out_prepared = Prepareds::table().add(std::move(object));
  return {};
}

/// The one of that number; C++ says what is wrong with others.
TensorDesc state_desc(const FunctionObject& object, std::size_t state) {
  const std::vector<TensorDesc>& states = object.function.signature().states;
  return state < states.size() ? states[state] : TensorDesc{DType::none, {}};
}

Error count_mismatch(const FunctionSignature& signature, const char* what, std::size_t expected,
                     std::size_t given) {
  return {Errc::arity_mismatch, "'" + signature.name + "' has " + std::to_string(expected) + " " +
                                    what + (expected == 1 ? "" : "s") + ", not " +
                                    std::to_string(given)};
}

/// Inputs, each here or on the device.
Result<void> read_inputs(const ringkernel_execution& raw, Execution& execution) {
  for (std::size_t i = 0; i < raw.input_count; ++i) {
    if (raw.residents != nullptr && raw.residents[i] != nullptr) {
      RK_TRY(resident, Residents::table().find(raw.residents[i], "a resident tensor"));
      execution.inputs.push_back(resident->tensor);
      execution.residents.push_back(std::move(resident));
      continue;
    }
    if (raw.inputs == nullptr) return null_argument("execution->inputs");
    RK_TRY(view, read_tensor(raw.inputs[i], {"execution->inputs", i}));
    execution.inputs.push_back(view);
  }
  return {};
}

/// Places of results, each here or on the device.
Result<void> read_places(const ringkernel_execution& raw, const FunctionSignature& signature,
                         Execution& execution) {
  if (raw.results != nullptr) execution.results = {raw.results, raw.result_count};
  Result<void> room;
  for (std::size_t i = 0; i < raw.result_count; ++i) {
    if (raw.into != nullptr && raw.into[i] != nullptr) {
      RK_TRY(resident, Residents::table().find(raw.into[i], "a tensor of `into`"));
      execution.options.into.push_back({i, resident->tensor});
      execution.residents.push_back(std::move(resident));
      continue;
    }
    if (raw.results == nullptr) return null_argument("execution->results");
    Result<void> found = check_room(raw.results[i], signature.outputs[i]);
    if (room && !found) room = std::move(found);
  }
  if (room) return {};
  for (std::size_t i = 0; i < raw.result_count; ++i)
    if (raw.into == nullptr || raw.into[i] == nullptr)
      raw.results[i].data_bytes = signature.outputs[i].bytes();
  return room;
}

}  // namespace

Result<void> read_execution(const ringkernel_execution* given, const FunctionSignature& signature,
                            Execution& execution) {
  if (given == nullptr) return null_argument("execution");
  RK_TRY(raw, read_options(given));
  if (raw.input_count != signature.inputs.size())
    return count_mismatch(signature, "input", signature.inputs.size(), raw.input_count);
  if (raw.result_count != signature.outputs.size())
    return count_mismatch(signature, "output", signature.outputs.size(), raw.result_count);
  execution.options.timeout = to_duration(raw.timeout_ns);
  execution.options.priority = raw.priority;
  execution.options.check_nan = raw.check_nan != 0;
  RK_TRY_VOID(read_inputs(raw, execution));
  return read_places(raw, signature, execution);
}

void copy_results(const FunctionResult& result, std::span<ringkernel_tensor> places) noexcept {
  for (std::size_t i = 0; i < places.size(); ++i)
    if (const TensorView view = result.output(i); view.desc.dtype != DType::none)
      copy_result(view, places[i]);
}

}  // namespace ringkernel::capi

// NOLINTBEGIN: the names of the C API
using namespace ringkernel;
using namespace ringkernel::capi;

ringkernel_status ringkernel_function_compile_text(ringkernel_runtime* handle, const char* name,
                                                   const char* text,
                                                   const ringkernel_function_options* options,
                                                   ringkernel_function** out_function) {
  return with_runtime(handle, [&](const auto& runtime) -> Result<void> {
    if (name == nullptr) return null_argument("name");
    if (text == nullptr) return null_argument("text");
    RK_TRY(graph, Graph::parse(name, text));
    return compile(runtime, graph, options, out_function);
  });
}

ringkernel_status ringkernel_function_compile_onnx(ringkernel_runtime* handle,
                                                   const ringkernel_onnx_model* model,
                                                   const ringkernel_function_options* options,
                                                   ringkernel_function** out_function) {
  return with_runtime(handle, [&](const auto& runtime) -> Result<void> {
    RK_TRY(graph, read_model(model));
    return compile(runtime, graph, options, out_function);
  });
}

ringkernel_status ringkernel_function_compile_mlir(ringkernel_runtime* handle,
                                                   const ringkernel_mlir_module* module,
                                                   const ringkernel_function_options* options,
                                                   ringkernel_function** out_function) {
  return with_runtime(handle, [&](const auto& runtime) -> Result<void> {
    RK_TRY(graph, read_module(module));
    return compile(runtime, graph, options, out_function);
  });
}

ringkernel_status ringkernel_function_instance(ringkernel_function* function,
                                               const ringkernel_function_options* given,
                                               ringkernel_function** out_function) {
  return with_function(function, [&](FunctionObject& object) -> Result<void> {
    if (out_function == nullptr) return null_argument("out_function");
    RK_TRY(options, read_function_options(given));
    auto made = std::make_shared<FunctionObject>();
    made->runtime = object.runtime;
    RK_TRY(instance, object.function.instance(options));
    made->function = std::move(instance);
    *out_function = Functions::table().add(std::move(made));
    return {};
  });
}

ringkernel_status ringkernel_function_close(ringkernel_function* function) {
  return guarded([&]() -> Result<void> {
    RK_TRY_VOID(Functions::table().remove(function, "function"));
    return {};
  });
}

ringkernel_status ringkernel_function_signature(ringkernel_function* function,
                                                ringkernel_signature* out_signature) {
  return with_function(function, [&](FunctionObject& object) {
    const FunctionSignature& signature = object.function.signature();
    return write_info({.struct_size = 0,
                       .inputs = signature.inputs.size(),
                       .outputs = signature.outputs.size(),
                       .states = signature.states.size(),
                       .commands = signature.commands,
                       .arena_bytes = signature.arena_bytes,
                       .state_bytes = signature.state_bytes,
                       .workspace_bytes = signature.workspace_bytes},
                      out_signature, "out_signature");
  });
}

ringkernel_status ringkernel_function_describe(ringkernel_function* function, int32_t port,
                                               size_t number, ringkernel_tensor* out_tensor,
                                               const char** out_name) {
  return with_function(function, [&](FunctionObject& object) -> Result<void> {
    if (out_tensor == nullptr) return null_argument("out_tensor");
    return describe_port(object.function.signature(), port, number, *out_tensor, out_name);
  });
}

ringkernel_status ringkernel_function_execute(ringkernel_function* function,
                                              const ringkernel_execution* given) {
  return with_function(function, [&](FunctionObject& object) -> Result<void> {
    Execution execution;
    RK_TRY_VOID(read_execution(given, object.function.signature(), execution));
    RK_TRY(result, object.function.execute(execution.inputs, execution.options));
    copy_results(result, execution.results);
    return {};
  });
}

ringkernel_status ringkernel_function_prepare(ringkernel_function* function,
                                              ringkernel_prepared** out_prepared) {
  return with_function(
      function, [&](FunctionObject& object) { return prepare_function(object, out_prepared); });
}

ringkernel_status ringkernel_function_read_state(ringkernel_function* function, size_t state,
                                                 uint64_t timeout_ns, ringkernel_tensor* result) {
  return with_function(function, [&](FunctionObject& object) {
    return read_into(state_desc(object, state), result, [&](std::span<std::byte> bytes) {
      return object.function.read_state(state, bytes, to_duration(timeout_ns));
    });
  });
}

ringkernel_status ringkernel_function_write_state(ringkernel_function* function, size_t state,
                                                  const ringkernel_tensor* elements,
                                                  uint64_t timeout_ns) {
  return with_function(function, [&](FunctionObject& object) -> Result<void> {
    if (elements == nullptr) return null_argument("elements");
    RK_TRY(given, read_elements(*elements, {"elements"}));
    return with_elements(given, [&](auto typed) {
      return object.function.write_state(state, typed, to_duration(timeout_ns));
    });
  });
}

ringkernel_status ringkernel_function_reset_states(ringkernel_function* function,
                                                   uint64_t timeout_ns) {
  return with_function(function, [&](FunctionObject& object) {
    return object.function.reset_states(to_duration(timeout_ns));
  });
}
// NOLINTEND
