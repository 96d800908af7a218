#include "runtime/function_state.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "foundation/assert.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"
#include "ring/geometry.hpp"
#include "runtime/call_operation.hpp"

namespace ringkernel {
namespace detail {
namespace {

/// Inputs and outputs travel as plain words.
TensorDesc words(std::uint64_t bytes) {
  return {DType::f32, {static_cast<std::uint32_t>(bytes / sizeof(float))}};
}

/// A ring that takes as many of these records as may be under way, two at least, and few where that
/// is much.
Result<std::uint32_t> ring_for(std::uint64_t payload_bytes, std::uint32_t in_flight) {
  constexpr std::uint64_t usual = 64ull * 1024;
  constexpr std::uint64_t overhead_max = 2048;
  const std::uint64_t record = payload_bytes + overhead_max;
  const std::uint64_t bytes =
      std::bit_ceil(std::max(2 * record, std::min(usual, in_flight * record)));
  if (bytes > ring_bytes_max)
    return Error(Errc::message_too_large, std::to_string(payload_bytes) +
                                              " bytes of inputs or outputs; a ring has at most " +
                                              std::to_string(ring_bytes_max));
  return static_cast<std::uint32_t>(bytes);
}

std::string kernel_id(const std::string& name) {
  static std::atomic<std::uint64_t> number{0};
  const std::string tail = "#" + std::to_string(number.fetch_add(1, std::memory_order_relaxed));
  const std::string id = "function:" + name;
  return id.substr(0, kernel_id_length_max - tail.size()) + tail;
}

Result<void> check_outputs(const FunctionResult& result, const FunctionSignature& signature) {
  for (std::size_t i = 0; i < result.size(); ++i)
    RK_TRY_VOID(
        check_numbers(signature.name, "output", i, signature.output_names[i], result.output(i)));
  return {};
}

}  // namespace

Result<std::shared_ptr<FunctionState>> FunctionState::compile(
    const std::shared_ptr<RuntimeState>& runtime, const Graph& graph,
    const FunctionOptions& options) {
  RK_TRY(plan, plan_graph(graph));
  const auto code = std::make_shared<FunctionCode>(runtime, graph, plan);
  RK_TRY(function, launch(code, options));
  RK_TRY_VOID(code->write(*function->kernel_, graph, plan));
  RK_TRY_VOID(function->open());
  return function;
}

Result<std::shared_ptr<FunctionState>> FunctionState::instantiate(
    std::shared_ptr<const FunctionCode> code, const FunctionOptions& options) {
  RK_TRY(function, launch(std::move(code), options));
  RK_TRY_VOID(function->open());
  return function;
}

Result<std::shared_ptr<FunctionState>> FunctionState::launch(
    std::shared_ptr<const FunctionCode> code, const FunctionOptions& function_options) {
  KernelOptions options{.program = "core",
                        .in_flight_max = function_options.in_flight_max,
                        .queue_max = function_options.queue_max,
                        .backpressure = function_options.backpressure};
  RK_TRY(input_bytes, ring_for(code->input_bytes(), options.in_flight_max));
  RK_TRY(output_bytes, ring_for(code->output_bytes(), options.in_flight_max));
  options.input_bytes = input_bytes;
  options.output_bytes = output_bytes;
  RK_TRY(kernel, code->runtime()->launch(kernel_id(code->signature()->name), options));
  ScopeGuard ending([&]() noexcept { (void)kernel->terminate({}, kernel->terminated_reason()); });
  auto function = std::make_shared<FunctionState>(kernel, std::move(code));
  ending.dismiss();  // from here on the function does
  return function;
}

FunctionState::FunctionState(std::shared_ptr<KernelState> kernel,
                             std::shared_ptr<const FunctionCode> code)
    : kernel_(std::move(kernel)),
      code_(std::move(code)),
      signature_(code_->signature()),
      input_offsets_(code_->input_offsets()) {}

FunctionState::~FunctionState() {
  if (!kernel_->is_foreign()) (void)kernel_->terminate({}, kernel_->terminated_reason());
}

Result<void> FunctionState::open() {
  const std::shared_ptr<const Arena::Region> shared = code_->region();
  if (shared == nullptr) return Error(Errc::kernel_terminated, "nobody runs the function any more");
  RK_TRY(own, kernel_->add_region(code_->own_bytes(), shared));
  Inference run{words(code_->output_bytes()), {}};
  run.attrs.graph.count = static_cast<rk_u32>(signature_->commands);
  run.attrs.graph.commands = shared->offset();
  run.attrs.graph.own = own;
  Request kind;
  kind.op = static_cast<Op>(RK_OP_GRAPH);
  kind.input_count = 1;
  kind.inputs[0] = TensorView(words(code_->input_bytes()), nullptr);
  RK_TRY(skeleton, codec::make_skeleton(kind, run));
  skeleton_ = std::move(skeleton);
  for (std::uint64_t& offset : input_offsets_) offset += skeleton_->gaps[0].offset;
  return kernel_->activate();
}

Error FunctionState::mismatch(Errc code, const std::string& what, const std::string& expected,
                              const std::string& got) const {
  return {code, "compiled function '" + signature_->name + "' on '" +
                    kernel_->runtime().metrics().device + "': " + what + ". Expected: " + expected +
                    ". Got: " + got};
}

namespace {

/// Whether a row of elements is meant for a shape that has them in a row as well, [1, N] for
/// instance: all extents but one are 1, so that there is one order.
bool is_row_of(const Shape& given, const Shape& expected) {
  if (given.rank() != 1) return false;
  std::int64_t others = 0;
  for (const std::uint32_t extent : expected.dims())
    if (extent != 1 && (extent != given[0] || ++others > 1)) return false;
  return others == 1 || given[0] == 1;
}

}  // namespace

Result<void> FunctionState::check(std::span<const TensorView> inputs) const {
  const std::vector<TensorDesc>& expected = signature_->inputs;
  if (inputs.size() != expected.size())
    return mismatch(Errc::arity_mismatch, "inputs", std::to_string(expected.size()),
                    std::to_string(inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorView& input = inputs[i];
    const auto what = [&] { return place_text("input", i, signature_->input_names[i]); };
    if (input.desc.dtype != expected[i].dtype)
      return mismatch(Errc::dtype_mismatch, what(), expected[i].text(), input.desc.text());
    if (input.desc.shape != expected[i].shape && !is_row_of(input.desc.shape, expected[i].shape))
      return mismatch(Errc::dimension_mismatch, what(), expected[i].text(), input.desc.text());
    if (input.tensor != 0)
      return mismatch(Errc::unsupported, what(), "elements", "a resident tensor");
    if (input.data == nullptr || input.element_count != input.desc.element_count())
      return mismatch(Errc::element_count_mismatch, what(),
                      std::to_string(input.desc.element_count()) + " elements",
                      std::to_string(input.data == nullptr ? 0 : input.element_count));
  }
  return {};
}

Result<void> FunctionState::prepare(std::span<const TensorView> inputs,
                                    const ExecuteOptions& options, Pieces& pieces,
                                    KernelState::Prepared& prepared) const {
  RK_TRY_VOID(check(inputs));
  if (options.check_nan) {
    RK_TRY_VOID(code_->constants());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      RK_TRY_VOID(
          check_numbers(signature_->name, "input", i, signature_->input_names[i], inputs[i]));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    pieces[i] = {input_offsets_[i], inputs[i].data, inputs[i].desc.bytes()};
  KernelState::prepare(skeleton_->plan, skeleton_->kind, std::span(pieces).first(inputs.size()),
                       prepared);
  prepared.envelope.priority = options.priority;
  return {};
}

Result<FunctionResult> FunctionState::execute(std::span<const TensorView> inputs,
                                              const ExecuteOptions& options) const {
  if (!usable(kernel_)) return refusal(kernel_);
  Pieces pieces;
  KernelState::Prepared prepared;
  if (Result<void> ready = prepare(inputs, options, pieces, prepared); !ready)
    return kernel_->noted(std::move(ready).error());
  Result<Reply> reply = kernel_->exchange(prepared, {.timeout = options.timeout});
  if (!reply) {
    Error error = std::move(reply).error();
    error.detail = "compiled function '" + signature_->name + "'" +
                   (error.detail.empty() ? "" : ": " + error.detail);
    return error;
  }
  FunctionResult result(std::move(*reply), signature_);
  if (!options.check_nan) return result;
  if (Result<void> numbers = check_outputs(result, *signature_); !numbers)
    return kernel_->noted(std::move(numbers).error());
  return result;
}

PreparedState::Layout FunctionState::layout() const {
  PreparedState::Layout layout{signature_->name, skeleton_->plan, {}, {}};
  for (std::size_t i = 0; i < input_offsets_.size(); ++i)
    layout.operands.push_back({signature_->inputs[i], input_offsets_[i]});
  for (std::size_t i = 0; i < signature_->outputs.size(); ++i)
    layout.results.push_back({signature_->outputs[i], signature_->output_offsets[i]});
  return layout;
}

// The operation does not hold the function, whose destructor waits: the handler does.
void FunctionState::start_execute(std::span<const TensorView> inputs, const ExecuteOptions& options,
                                  Handler<FunctionResult> handler) const {
  if (!usable(kernel_))
    return Finish<FunctionResult>(std::move(handler))(refusal(kernel_), FunctionResult());
  Pieces pieces;
  KernelState::Prepared prepared;
  Result<void> ready = or_no_memory([&] { return prepare(inputs, options, pieces, prepared); });
  if (!ready)
    return Finish<FunctionResult>(std::move(handler))(kernel_->noted(std::move(ready).error()),
                                                      FunctionResult());
  const auto to_result = [kernel = kernel_, signature = signature_,
                          check_nan = options.check_nan](Reply&& reply) -> Result<FunctionResult> {
    FunctionResult result(std::move(reply), signature);
    if (!check_nan) return result;
    if (Result<void> numbers = check_outputs(result, *signature); !numbers)
      return kernel->noted(std::move(numbers).error());
    return result;
  };
  start_call_operation(kernel_, prepared, {.timeout = options.timeout}, to_result,
                       std::move(handler));
}

void start_execute(FunctionState* function, std::span<const TensorView> inputs,
                   const ExecuteOptions& options, Handler<FunctionResult> handler) {
  if (function == nullptr)
    return Finish<FunctionResult>(std::move(handler))(make_error_code(Errc::kernel_not_found),
                                                      FunctionResult());
  function->start_execute(inputs, options, std::move(handler));
}

}  // namespace detail

const FunctionSignature& CompiledFunction::signature() const noexcept {
  RK_ASSERT(state_ != nullptr, "an empty handle has no signature");
  return state_->signature();
}

Result<CompiledFunction> CompiledFunction::instance(const FunctionOptions& options) const {
  if (state_ == nullptr) return Error(Errc::kernel_not_found, "an empty function");
  if (!usable(state_->kernel())) return refusal(state_->kernel());
  return or_no_memory([&]() -> Result<CompiledFunction> {
    RK_TRY(function, detail::FunctionState::instantiate(state_->code(), options));
    return CompiledFunction(std::move(function));
  });
}

Result<PreparedCall> CompiledFunction::prepare() const {
  if (state_ == nullptr) return Error(Errc::kernel_not_found, "an empty function");
  if (!usable(state_->kernel())) return refusal(state_->kernel());
  return or_no_memory([&]() -> Result<PreparedCall> {
    return PreparedCall(
        std::make_unique<detail::PreparedState>(state_->kernel(), state_, state_->layout()));
  });
}

Result<FunctionResult> CompiledFunction::execute(std::span<const TensorView> inputs,
                                                 const ExecuteOptions& options) const {
  if (state_ == nullptr) return Error(Errc::kernel_not_found, "an empty function");
  return or_no_memory([&] { return state_->execute(inputs, options); });
}

}  // namespace ringkernel
