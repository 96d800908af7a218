#include "runtime/calls/prepared_call.hpp"

#include <utility>

#include "foundation/scope_guard.hpp"
#include "message/skeleton.hpp"

namespace ringkernel {
namespace detail {
namespace {

/// How often a call that took too long is not tried again: often enough for one that was only
/// interrupted, seldom enough for one that is long.
constexpr std::uint32_t long_pause_calls = 64;
/// Of so many one is timed, the first to begin with: looks at the clock are not for nothing.
constexpr std::uint32_t tries_timed = 8;

std::string text_of(std::uint64_t count, DType dtype) {
  return std::to_string(count) + " " + name(dtype);
}

std::string text_of(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// `bytes` are those of `expected`.
bool is_like(const auto& given, const TensorDesc& expected, std::uint64_t bytes) {
  return given.dtype == expected.dtype && given.count * element_bytes(given.dtype) == bytes;
}

/// The operands in the message, and the result if it comes with the reply.
PreparedState::Layout layout_of(const codec::Skeleton& skeleton) {
  PreparedState::Layout layout;
  const OpInfo* const op = find_op(static_cast<std::uint16_t>(skeleton.kind.op));
  layout.name = op != nullptr ? op->name : "";
  layout.plan = skeleton.plan;
  for (std::size_t i = 0; i < skeleton.kind.input_count; ++i)
    if (skeleton.kind.inputs[i].tensor == 0)
      layout.operands.push_back({skeleton.kind.inputs[i].desc, skeleton.gaps[i].offset});
  if (skeleton.output.dtype != DType::none) layout.results.push_back({skeleton.output, 0});
  return layout;
}

}  // namespace

PreparedState::PreparedState(std::shared_ptr<KernelState> kernel, std::shared_ptr<const void> owner,
                             Layout layout)
    : kernel_(std::move(kernel)),
      owner_(std::move(owner)),
      layout_(std::move(layout)),
      result_(layout_.plan.reply_bytes - layout_.plan.prefix_bytes),
      in_place_{0, result_.data(), result_.size()},
      given_places_(layout_.results.size()) {
  for (const Layout::Operand& operand : layout_.operands)
    pieces_.push_back({operand.offset, nullptr, operand.desc.bytes()});
  for (std::size_t i = 0; i < given_places_.size(); ++i)
    given_places_[i] = {layout_.results[i].offset, nullptr, layout_.results[i].desc.bytes()};
  prepared_.lay_out(layout_.plan, layout_.plan.skeleton->kind, pieces_);
  reply_place_.prefix = layout_.plan.skeleton->reply_prefix;
  reply_place_.reply_bytes = layout_.plan.reply_bytes;
}

Result<std::unique_ptr<PreparedState>> PreparedState::of(std::shared_ptr<KernelState> kernel,
                                                         const Request& request) {
  if (!kernel->program().takes_ops()) return kernel->program().takes_no_ops();
  RK_TRY(made, codec::make_skeleton(request));
  const std::shared_ptr<const codec::Skeleton> skeleton(std::move(made));
  return std::make_unique<PreparedState>(std::move(kernel), skeleton, layout_of(*skeleton));
}

template <class Call>
auto PreparedState::alone(Call&& call) -> decltype(call()) {
  // acquire: what the call before left here; pairs with the release at its end
  if (in_use_.exchange(true, std::memory_order_acquire)) [[unlikely]]
    return Error(Errc::busy, "another call of prepared '" + layout_.name +
                                 "' is under way; a prepared call belongs to one thread at a "
                                 "time: prepare one for each");
  const ScopeGuard giving_back([this]() noexcept {
    // release: what this call leaves here; pairs with the acquire of the next one
    in_use_.store(false, std::memory_order_release);
  });
  return call();
}

Error PreparedState::mismatch(Errc code, const std::string& prepared,
                              const std::string& given) const {
  return {code,
          "'" + layout_.name + "' was prepared for " + prepared + "; the call gives " + given};
}

Error PreparedState::mismatch(const std::string& what, const TensorDesc& expected, DType dtype,
                              std::uint64_t count) const {
  return mismatch(dtype != expected.dtype ? Errc::dtype_mismatch : Errc::element_count_mismatch,
                  text_of(expected.element_count(), expected.dtype) + " as " + what,
                  text_of(count, dtype));
}

Result<void> PreparedState::exchange(std::span<const Elements> operands,
                                     std::span<const bridge::ReplyPlace::Part> parts,
                                     const SendOptions& options) {
  if (operands.size() != layout_.operands.size())
    return mismatch(Errc::arity_mismatch, text_of(layout_.operands.size(), "operand"),
                    std::to_string(operands.size()));
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!is_like(operands[i], layout_.operands[i].desc, pieces_[i].bytes))
      return mismatch("operand " + std::to_string(i), layout_.operands[i].desc, operands[i].dtype,
                      operands[i].count);
    pieces_[i].data = operands[i].data;
  }
  reply_place_.parts = parts;
  return kernel_->exchange().round_trip(prepared_, reply_place_, options);
}

Result<ResultView> PreparedState::call(std::span<const Elements> operands,
                                       const SendOptions& options) {
  return alone([&]() -> Result<ResultView> {
    // A result in a resident tensor has no bytes, and nowhere to go.
    RK_TRY_VOID(exchange(operands, {&in_place_, layout_.results.empty() ? 0u : 1u}, options));
    return ResultView(result_.data(), layout_.results);
  });
}

Result<void> PreparedState::put_into(std::span<const ElementsOut> results,
                                     std::span<const Elements> operands,
                                     const SendOptions& options) {
  if (results.size() != given_places_.size())
    return mismatch(Errc::arity_mismatch, text_of(given_places_.size(), "result"),
                    text_of(results.size(), "place"));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!is_like(results[i], layout_.results[i].desc, given_places_[i].bytes))
      return mismatch("result " + std::to_string(i), layout_.results[i].desc, results[i].dtype,
                      results[i].count);
    given_places_[i].to = results[i].data;
  }
  return exchange(operands, given_places_, options);
}

Result<void> PreparedState::call_into(std::span<const ElementsOut> results,
                                      std::span<const Elements> operands,
                                      const SendOptions& options) {
  return alone([&] { return put_into(results, operands, options); });
}

Result<bool> PreparedState::try_call_into(std::span<const ElementsOut> results,
                                          std::span<const Elements> operands,
                                          std::chrono::nanoseconds longest) {
  return alone([&]() -> Result<bool> {
    Exchange& exchange = kernel_->exchange();
    if (long_pause_ != 0) {
      --long_pause_;
      return false;
    }
    if (!exchange.can_run_here()) return false;
    const bool is_timed = tries_++ % tries_timed == 0;
    const std::uint64_t begin_ns = is_timed ? kernel_->runtime().clock().sample_ns() : 0;
    Result<void> done = put_into(results, operands, {});
    if (is_timed && exchange.channel().note_run_here(begin_ns) > longest) {
      tries_ = 0;
      long_pause_ = long_pause_calls;
    }
    if (!done) return std::move(done).error();
    return true;
  });
}

}  // namespace detail

PreparedCall::PreparedCall(std::unique_ptr<detail::PreparedState> state) noexcept
    : state_(std::move(state)) {}
PreparedCall::PreparedCall(PreparedCall&& other) noexcept = default;
PreparedCall& PreparedCall::operator=(PreparedCall&& other) noexcept = default;
PreparedCall::~PreparedCall() = default;

Result<ResultView> PreparedCall::call(std::span<const Elements> operands,
                                      const SendOptions& options) {
  if (state_ == nullptr)
    return Error(Errc::kernel_not_found, "a prepared call that was moved from");
  return detail::at_edge(state_->kernel(), [&] { return state_->call(operands, options); });
}

Result<void> PreparedCall::call_into(std::span<const ElementsOut> results,
                                     std::span<const Elements> operands,
                                     const SendOptions& options) {
  if (state_ == nullptr)
    return Error(Errc::kernel_not_found, "a prepared call that was moved from");
  return detail::at_edge(state_->kernel(),
                         [&] { return state_->call_into(results, operands, options); });
}

Result<bool> PreparedCall::try_call_into(std::span<const ElementsOut> results,
                                         std::span<const Elements> operands,
                                         std::chrono::nanoseconds longest) {
  if (state_ == nullptr)
    return Error(Errc::kernel_not_found, "a prepared call that was moved from");
  return detail::at_edge(state_->kernel(),
                         [&] { return state_->try_call_into(results, operands, longest); });
}

}  // namespace ringkernel
