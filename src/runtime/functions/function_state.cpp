#include "runtime/functions/function_state.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "foundation/assert.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"
#include "ops/ir_text.hpp"
#include "ring/geometry.hpp"
#include "runtime/calls/call_operation.hpp"

namespace ringkernel {
namespace detail {
namespace {

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

/// Nobody is left who could be told how it ends.
void end(KernelState& kernel) noexcept {
  (void)kernel.lifecycle().terminate({}, kernel.lifecycle().terminated_reason());
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
  const std::shared_ptr<ResidentCode> resident(
      new ResidentCode{runtime, FunctionCode(graph, plan), {}});
  RK_TRY(function, launch(resident, options));
  const auto write = [&](std::byte* to, std::uint64_t place) {
    write_shared(graph, plan, to, place);
  };
  RK_TRY(region, function->kernel_->share_region(plan.shared_bytes, write));
  resident->region = region;
  RK_TRY_VOID(function->open());
  return function;
}

Result<std::shared_ptr<FunctionState>> FunctionState::instantiate(
    std::shared_ptr<const ResidentCode> resident, const FunctionOptions& options) {
  RK_TRY(function, launch(std::move(resident), options));
  RK_TRY_VOID(function->open());
  return function;
}

Result<std::shared_ptr<FunctionState>> FunctionState::launch(
    std::shared_ptr<const ResidentCode> resident, const FunctionOptions& function_options) {
  const FunctionCode& code = resident->code;
  const std::uint64_t bytes_max = function_options.message_bytes_max;
  KernelOptions options{.program = "core",
                        .in_flight_max = function_options.in_flight_max,
                        .queue_max = function_options.queue_max,
                        .backpressure = function_options.backpressure};
  const std::uint64_t in = bytes_in_message(code.input_bytes(), bytes_max);
  const std::uint64_t out = bytes_in_message(code.output_bytes(), bytes_max);
  RK_TRY(input_bytes, ring_for(in, options.in_flight_max));
  RK_TRY(output_bytes, ring_for(out, options.in_flight_max));
  options.input_bytes = input_bytes;
  options.output_bytes = output_bytes;
  const std::string id = kernel_id(code.signature()->name);
  auto launched = or_no_memory([&] { return resident->runtime->launch(id, options); });
  if (!launched) {
    resident->runtime->reporting().note(id,
                                        launched.error());  // nobody above knows of the ring kernel
    return std::move(launched).error();
  }
  const std::shared_ptr<KernelState> kernel = std::move(*launched);
  ScopeGuard ending([&]() noexcept { end(*kernel); });
  auto function = std::make_shared<FunctionState>(kernel, std::move(resident), function_options);
  ending.dismiss();  // from here on the function does
  return function;
}

FunctionState::FunctionState(std::shared_ptr<KernelState> kernel,
                             std::shared_ptr<const ResidentCode> resident,
                             const FunctionOptions& options)
    : kernel_(std::move(kernel)),
      resident_(std::move(resident)),
      code_(resident_->code),
      signature_(code_.signature()),
      message_bytes_max_(options.message_bytes_max) {}

FunctionState::~FunctionState() {
  if (!kernel_->is_foreign()) end(*kernel_);
}

Result<void> FunctionState::open() {
  const std::shared_ptr<const Arena::Region> shared = resident_->region.lock();
  if (shared == nullptr) return Error(Errc::kernel_terminated, "nobody runs the function any more");
  RK_TRY(own, kernel_->add_region(code_.own_bytes(), shared));
  constexpr std::uint64_t any = ~std::uint64_t{0};  // what does not fit the rings has been refused
  place_ = {shared->offset(), own, message_bytes_max_ != 0 ? message_bytes_max_ : any};
  Result<LayoutPointer> plain = FunctionLayout::make(code_, place_, 0);
  if (plain)
    plain_ = std::move(*plain);
  else if (message_bytes_max_ == 0)
    return plain.error();
  Result<void> activated = kernel_->lifecycle().activate();
  if (!activated) kernel_->note(activated.error());  // likewise
  return activated;
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

Result<std::uint64_t> FunctionState::check(std::span<const TensorView> inputs) const {
  std::uint64_t residents = 0;
  const std::vector<TensorDesc>& expected = signature_->inputs;
  if (inputs.size() != expected.size())
    return mismatch(Errc::arity_mismatch, "inputs", std::to_string(expected.size()),
                    std::to_string(inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorView& input = inputs[i];
    const auto what = [&] { return ops::place_text("input", i, signature_->input_names[i]); };
    if (input.desc.dtype != expected[i].dtype)
      return mismatch(Errc::dtype_mismatch, what(), expected[i].text(), input.desc.text());
    if (input.desc.shape != expected[i].shape && !is_row_of(input.desc.shape, expected[i].shape))
      return mismatch(Errc::dimension_mismatch, what(), expected[i].text(), input.desc.text());
    if (input.tensor != 0)
      residents |= input_bit(i);
    else if (input.data == nullptr || input.element_count != input.desc.element_count())
      return mismatch(Errc::element_count_mismatch, what(),
                      std::to_string(input.desc.element_count()) + " elements",
                      std::to_string(input.data == nullptr ? 0 : input.element_count));
  }
  return residents;
}

Result<void> FunctionState::prepare(std::span<const TensorView> inputs,
                                    const ExecuteOptions& options, Parts& parts) const {
  RK_TRY(residents, check(inputs));
  if (!options.into.empty()) [[unlikely]] {
    RK_TRY(outputs, check_into(inputs, options.into));
    residents |= outputs;
  }
  if (options.check_nan) {
    RK_TRY_VOID(code_.constants());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].tensor == 0)
        RK_TRY_VOID(
            check_numbers(signature_->name, "input", i, signature_->input_names[i], inputs[i]));
  }
  std::size_t count = 0;
  if (residents == 0 && plain_ != nullptr) [[likely]] {
    parts.layout = plain_.get();
    for (; count < inputs.size(); ++count)
      parts.pieces[count] = {plain_->input_offsets[count], inputs[count].data,
                             inputs[count].desc.bytes()};
  } else {
    RK_TRY(layout, layout_of(residents));
    parts.other = std::move(layout);
    parts.layout = parts.other.get();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].tensor == 0)
        parts.pieces[count++] = {parts.layout->input_offsets[i], inputs[i].data,
                                 inputs[i].desc.bytes()};
    const std::vector<std::uint64_t>& table = parts.layout->table;
    parts.pieces[count++] = {parts.layout->table_offset, parts.table.data(),
                             table.size() * sizeof(std::uint64_t)};
  }
  parts.prepared.lay_out(parts.layout->skeleton->plan, parts.layout->skeleton->kind,
                         std::span(parts.pieces).first(count));
  parts.prepared.envelope.priority = options.priority;
  return residents == 0 ? Result<void>() : bind(inputs, options.into, parts);
}

Result<FunctionResult> FunctionState::execute(std::span<const TensorView> inputs,
                                              const ExecuteOptions& options) const {
  Parts parts;
  RK_TRY_VOID(prepare(inputs, options, parts));
  Result<Reply> reply =
      kernel_->exchange().round_trip(parts.prepared, {.timeout = options.timeout});
  if (!reply) {
    Error error = std::move(reply).error();
    error.detail = "compiled function '" + signature_->name + "'" +
                   (error.detail.empty() ? "" : ": " + error.detail);
    return error;
  }
  FunctionResult result(std::move(*reply), parts.layout->signature);
  if (options.check_nan) RK_TRY_VOID(check_outputs(result, *signature_));
  return result;
}

Result<PreparedState::Layout> FunctionState::layout() const {
  RK_TRY(plain, layout_of(0));
  PreparedState::Layout layout{signature_->name, plain->skeleton->plan, {}, {}};
  for (std::size_t i = 0; i < plain->input_offsets.size(); ++i)
    layout.operands.push_back({signature_->inputs[i], plain->input_offsets[i]});
  for (std::size_t i = 0; i < signature_->outputs.size(); ++i)
    layout.results.push_back({signature_->outputs[i], signature_->output_offsets[i]});
  return layout;
}

// The operation does not hold the function, whose destructor waits: the handler does.
void FunctionState::start_execute(std::span<const TensorView> inputs, const ExecuteOptions& options,
                                  Handler<FunctionResult> handler) const {
  Parts parts;
  Result<void> ready = at_edge(kernel_, [&] { return prepare(inputs, options, parts); });
  if (!ready)
    return Finish<FunctionResult>(std::move(handler))(std::move(ready).error(), FunctionResult());
  const auto to_result = [signature = parts.layout->signature,
                          check_nan = options.check_nan](Reply&& reply) -> Result<FunctionResult> {
    FunctionResult result(std::move(reply), signature);
    if (check_nan) RK_TRY_VOID(check_outputs(result, *signature));
    return result;
  };
  start_call_operation(kernel_, parts.prepared, {.timeout = options.timeout}, to_result,
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
    RK_TRY(function, detail::FunctionState::instantiate(state_->resident(), options));
    return CompiledFunction(std::move(function));
  });
}

Result<PreparedCall> CompiledFunction::prepare() const {
  if (state_ == nullptr) return Error(Errc::kernel_not_found, "an empty function");
  if (!usable(state_->kernel())) return refusal(state_->kernel());
  return or_no_memory([&]() -> Result<PreparedCall> {
    RK_TRY(layout, state_->layout());
    return PreparedCall(
        std::make_unique<detail::PreparedState>(state_->kernel(), state_, std::move(layout)));
  });
}

Result<FunctionResult> CompiledFunction::execute(std::span<const TensorView> inputs,
                                                 const ExecuteOptions& options) const {
  if (state_ == nullptr) return Error(Errc::kernel_not_found, "an empty function");
  return at_edge(state_->kernel(), [&] { return state_->execute(inputs, options); });
}

}  // namespace ringkernel
