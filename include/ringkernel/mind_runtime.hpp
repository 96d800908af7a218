/// `MindRuntime`: the runtime interface of the MIND specification. Ops by name on resident tensors,
/// on several queues of one device, in an order that the tensors decide.
///
///     auto runtime = MindRuntime::open(BackendTarget::cpu).value();
///     Tensor x = runtime.allocate({DType::f32, {2, 3}}).value();
///     Tensor y = runtime.allocate({DType::f32, {2}}).value();
///     runtime.write(x, numbers).value();
///     runtime.run_op("Sum(%0, [1], false)", x, y).value();
///     runtime.read(y, sums).value();
///
/// Whatever order ops are given in, their results are those of that order: an op runs behind the
/// last op that writes one of its tensors, and behind those that read what it writes. Ops that have
/// nothing to do with each other may run in any order. docs/MIND.md
///
/// A device that failed, or an op that took too long, poisons the context: every op then answers
/// E6008 and nothing runs, until `recover`. Other errors leave the op's output untouched, and the
/// ops behind it run all the same.
///
/// Threading: distinct and shared objects safe, but nobody may use an object that is being
/// destroyed or assigned to. Ops given by several threads are ordered as they arrive.
/// Ownership: the runtime owns the device; tensors are handles (tensor_handle.hpp). An op keeps its
/// tensors until it has ended. The destructor ends what is unfinished (runtime_closed), tells
/// `on_metrics` once, and gives the device back.
/// Errors: E6002 (target), E6003 (op), E2007 (operands or outputs in another number), E2004 and
/// E3003 (an output is not what the op gives), those of the op (docs/OPS.md), tensor_not_found,
/// E6007 (an op took longer than `op_timeout`), E6008, runtime_closed.
#pragma once

#include <array>
#include <boost/asio/async_result.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "ringkernel/detail/operation.hpp"
#include "ringkernel/op.hpp"
#include "ringkernel/options.hpp"
#include "ringkernel/result.hpp"
#include "ringkernel/telemetry.hpp"
#include "ringkernel/tensor_handle.hpp"

namespace ringkernel {

/// Of one `MindRuntime`.
struct MindOptions {
  RuntimeOptions runtime{};
  std::string backend{};                  ///< forces one by name: "native", "opencl"
  std::optional<std::uint32_t> device{};  ///< as RuntimeBuilder::device
  std::uint32_t queues = 2;               ///< 1 to `mind_queues_max`
  KernelOptions queue{};                  ///< of each queue; its program is always `core`
  /// From when an op is handed to the device until it has ended, what is in front of it in its
  /// queue included. Zero: `runtime.call_timeout`.
  std::chrono::nanoseconds op_timeout{0};
  /// Told the metrics once, by the destructor. Must not throw.
  std::function<void(const RuntimeMetrics&)> on_metrics{};
};

/// Queues that one runtime can have.
inline constexpr std::uint32_t mind_queues_max = 64;

/// An op with its attributes.
struct MindOp {
  Op op = Op::noop;
  OpAttributes attributes{};
};

/// Of one op.
struct OpOptions {
  /// Which queue runs it; none: that of what it depends on, or the one with the least to do.
  std::optional<std::uint32_t> queue{};
  /// Zero: `MindOptions::op_timeout`.
  std::chrono::nanoseconds timeout{0};
};

/// The tensors of an op: one, several in braces, or any contiguous range. Borrows them.
class TensorList {
 public:
  constexpr TensorList() noexcept = default;
  TensorList(const Tensor& one) noexcept : tensors_(&one, 1) {}  // NOLINT: conversion
  TensorList(std::initializer_list<Tensor> several) noexcept     // NOLINT: conversion
      : tensors_(several.begin(), several.size()) {}             // until the call ends
  template <std::ranges::contiguous_range Range>
  requires std::same_as<std::ranges::range_value_t<Range>, Tensor> TensorList(const Range& several)
  noexcept : tensors_(several) {}  // NOLINT: conversion

  [[nodiscard]] std::span<const Tensor> tensors() const noexcept { return tensors_; }

 private:
  std::span<const Tensor> tensors_;
};

namespace detail {

class MindState;

/// An op as it is named: typed, or as a text.
using MindOpName = std::variant<MindOp, std::string_view>;

/// An op that has been checked, with its tensors.
struct MindCall {
  Request request;
  std::array<Tensor, inputs_max> inputs{};
  Tensor output{};  ///< empty if the op gives nothing
  OpOptions options{};
};

void start_op(const std::shared_ptr<MindState>& runtime, Result<MindCall> call, Handler<> handler);
/// Nobody is told.
void start_op(const std::shared_ptr<MindState>& runtime, Result<MindCall> call);

}  // namespace detail

/// Runs ops by name on resident tensors, in the order that the tensors demand.
class MindRuntime {
 public:
  /// Errors: E6002 with the target and what was tried, before anything ran; invalid_argument
  /// (options); those of RuntimeBuilder::build and of the first launch.
  [[nodiscard]] static Result<MindRuntime> open(BackendTarget target, MindOptions options = {});

  MindRuntime(MindRuntime&&) noexcept = default;
  MindRuntime& operator=(MindRuntime&& other) noexcept;
  ~MindRuntime();

  /// Zero until written. As RingKernelRuntime::allocate.
  [[nodiscard]] Result<Tensor> allocate(const TensorDesc& desc);

  /// Copies all elements in, or out, behind the ops that were given before. `Tensor::write` and
  /// `read` do the same where no op waits for another one. Zero timeout: `runtime.call_timeout`.
  /// Errors: as those, deadline_exceeded while ops are unfinished.
  template <ElementOrByteRange Range>
  Result<void> write(const Tensor& tensor, const Range& elements,
                     std::chrono::nanoseconds timeout = {}) {
    if (Result<void> settled = settle(tensor, true, timeout); !settled) return settled;
    return Tensor(tensor).write(elements, timeout);
  }
  /// As `write`.
  template <ElementOrByteRange Range>
  Result<void> read(const Tensor& tensor, Range&& elements, std::chrono::nanoseconds timeout = {}) {
    if (Result<void> settled = settle(tensor, false, timeout); !settled) return settled;
    return tensor.read(std::forward<Range>(elements), timeout);
  }

  /// Runs one op and waits for its end. A text is an op's name, `add`, `tensor.add` or `Add`, or
  /// the name with operands and attributes in the grammar of the Core IR, where %0 is the first of
  /// `inputs`: "Transpose(%0, [1, 0])". With the bare name, reshape, expand_dims, squeeze and fill
  /// take their attributes from the output's shape; sum, mean, transpose, index, slice, conv2d
  /// and max_pool have to be told theirs (invalid_argument).
  Result<void> run_op(const MindOp& op, TensorList inputs, TensorList outputs,
                      const OpOptions& options = {}) {
    return run(check(op, inputs, outputs, options));
  }
  Result<void> run_op(std::string_view text, TensorList inputs, TensorList outputs,
                      const OpOptions& options = {}) {
    return run(check(text, inputs, outputs, options));
  }

  /// The same without waiting, neither for the op nor for those that it depends on. Natively this
  /// thread runs the op if nothing else is unfinished, unless it has a timeout (its own, or
  /// `op_timeout`) or ops took over 100 us lately: a first long one is waited for, and
  /// `call_timeout` does not end it. Completes when the op has ended. Signature: void(error_code);
  /// the error's text comes from `synchronize`. The handler is called exactly once, on its
  /// associated executor, never inside this function. An op cannot be cancelled: only its end says
  /// that the device has let go of its tensors.
  template <class Token>
  auto run_op_async(const MindOp& op, TensorList inputs, TensorList outputs,
                    const OpOptions& options, Token&& token) {
    return start(check(op, inputs, outputs, options), std::forward<Token>(token));
  }
  template <class Token>
  auto run_op_async(std::string_view text, TensorList inputs, TensorList outputs,
                    const OpOptions& options, Token&& token) {
    return start(check(text, inputs, outputs, options), std::forward<Token>(token));
  }

  /// Waits until every op that was given before has ended. Errors: the first one that an
  /// asynchronous op ended with since the last time, with its text; deadline_exceeded (zero
  /// timeout: no limit but that of each op).
  Result<void> synchronize(std::chrono::nanoseconds timeout = {});

  /// Whether the context works: E6008 with what poisoned it if not.
  [[nodiscard]] Result<void> health() const;

  /// The way back from a poisoned context: ends what is unfinished and the device's executor, and
  /// begins with new ones. Tensors that an op may have been writing when it failed are gone
  /// (tensor_not_found); the others are as they were. Nothing that failed is run again. Does
  /// nothing in a context that works. Errors: E6007 if the device has not returned within
  /// `runtime.termination_timeout` (try again); those of a launch. The context is still poisoned
  /// then.
  Result<void> recover();

  [[nodiscard]] RuntimeMetrics metrics() const;
  /// As RingKernelRuntime::defragment.
  Result<Defragmentation> defragment();

 private:
  explicit MindRuntime(std::shared_ptr<detail::MindState> state) noexcept
      : state_(std::move(state)) {}

  void end() noexcept;
  Result<void> settle(const Tensor& tensor, bool for_write, std::chrono::nanoseconds timeout);
  [[nodiscard]] Result<detail::MindCall> check(const detail::MindOpName& op, TensorList inputs,
                                               TensorList outputs, const OpOptions& options) const;
  Result<void> run(Result<detail::MindCall> call);

  template <class Token>
  auto start(Result<detail::MindCall> call, Token&& token) {
    if constexpr (std::is_same_v<std::decay_t<Token>, boost::asio::detached_t>)
      detail::start_op(state_, std::move(call));
    else
      return boost::asio::async_initiate<Token, void(error_code)>(
          [](auto handler, Result<detail::MindCall> checked, const auto& state) {
            detail::start_op(state, std::move(checked), detail::Handler<>(std::move(handler)));
          },
          token, std::move(call), state_);
  }

  std::shared_ptr<detail::MindState> state_;
};

}  // namespace ringkernel
