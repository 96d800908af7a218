/// `CompiledFunction`: a graph made ready on the device. One message runs all of it.
///
///     auto function = runtime->compile(graph).value();
///     auto result = function.execute(image).value();
///     result.elements<float>(0);
///
/// Its commands, constants and workspace lie in the arena; it has a ring kernel of its own, named
/// "function:<name>#<number>", on which its executions queue up. Results have the same bytes as the
/// ops one by one. `instance` makes more of them, each with states of its own. docs/GRAPHS.md
///
/// Threading: distinct and shared objects safe; only assignment needs an object of its own.
/// Ownership: copies share the function. The last one that goes ends its ring kernel, which waits
/// for the execution in hand (at most `termination_timeout`), and gives the memory back.
/// Errors: runtime_closed and kernel_terminated once the runtime is shut down; kernel_not_found for
/// an empty handle.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/consign.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringkernel/detail/operation.hpp"
#include "ringkernel/function_result.hpp"
#include "ringkernel/message.hpp"
#include "ringkernel/options.hpp"
#include "ringkernel/prepared_call.hpp"
#include "ringkernel/result.hpp"
#include "ringkernel/tensor_handle.hpp"

namespace ringkernel {

/// Of the ring kernel that runs a function; its rings are as large as its messages ask for.
struct FunctionOptions {
  std::uint32_t in_flight_max = 1024;  ///< as KernelOptions::in_flight_max
  std::uint32_t queue_max = 256;       ///< as KernelOptions::queue_max
  Backpressure backpressure = Backpressure::block;
  /// Most bytes of inputs, and of outputs, that one message carries: the rings are made for them.
  /// An execution with more is message_too_large: its other inputs and outputs have to be resident
  /// tensors. Zero: all that there are.
  std::uint64_t message_bytes_max = 0;
};

/// Output number `output` of the signature goes into a resident tensor.
struct Into {
  std::size_t output = 0;
  TensorView tensor;
};

/// Of one execution.
struct ExecuteOptions {
  std::chrono::nanoseconds timeout{};  ///< zero: the runtime's `call_timeout`
  /// Looks at every f32 element of the inputs and of the outputs, and of the constants once: a relu
  /// makes 0 of a NaN. One that an op in between makes of numbers is seen if it gets through.
  /// Resident tensors are not looked at.
  bool check_nan = false;
  /// Higher goes first among the executions still queued on the host.
  std::int32_t priority = 0;
  /// `{.into = {{0, tensor}}}`: these outputs stay on the device; the result has no elements for
  /// them. Each tensor has the output's element type and shape; on a gpu any f32 tensor takes a
  /// scalar, in element 0. docs/GRAPHS.md, "Resident tensors"
  std::vector<Into> into{};
};

namespace detail {
class FunctionState;

void start_execute(FunctionState* function, std::span<const TensorView> inputs,
                   const ExecuteOptions& options, Handler<FunctionResult> handler);
}  // namespace detail

/// A graph made ready on the device; the handle is cheap to copy, and all copies are one function.
class CompiledFunction {
 public:
  /// An empty handle.
  CompiledFunction() noexcept = default;
  explicit CompiledFunction(std::shared_ptr<detail::FunctionState> state) noexcept
      : state_(std::move(state)) {}

  /// Precondition: the handle is not empty.
  [[nodiscard]] const FunctionSignature& signature() const noexcept;

  /// Runs the graph on these inputs, in the graph's order, each with elements or a resident tensor.
  /// An input of a shape like [1, N] takes N elements in a row as well: a vector is one. Tensors
  /// are held until the device is done with them, whatever the outcome here; after an error, those
  /// in `into` have unspecified elements. Errors: E2007, E2004, E3003 with "Expected" and "Got",
  /// E3007 (elements), tensor_not_found, invalid_argument (no such output, one twice, a tensor in
  /// two of them; one that is still read when it would be written), E2005 (an integer tensor on a
  /// gpu), E6001 (gather), not_a_number (the first one's place and index), message_too_large, and
  /// those of Kernel::call.
  [[nodiscard]] Result<FunctionResult> execute(std::span<const TensorView> inputs,
                                               const ExecuteOptions& options = {}) const;
  [[nodiscard]] Result<FunctionResult> execute(const TensorView& input,
                                               const ExecuteOptions& options = {}) const {
    return execute(std::span(&input, 1), options);
  }

  /// The same with a token. Signature: void(error_code, FunctionResult). The elements of the inputs
  /// are borrowed until initiated, where it waits for host copies of its tensors. Handlers and
  /// cancellation as those of Kernel::async_call; the function lives until the handler has been
  /// called.
  template <class Token>
  auto async_execute(std::span<const TensorView> inputs, const ExecuteOptions& options,
                     Token&& token) const {
    auto consigned = boost::asio::consign(std::forward<Token>(token), state_);
    return boost::asio::async_initiate<decltype(consigned), void(error_code, FunctionResult)>(
        [](auto handler, const std::vector<TensorView>& views, const ExecuteOptions& how,
           detail::FunctionState* function) {
          detail::start_execute(function, views, how,
                                detail::Handler<FunctionResult>(std::move(handler)));
        },
        consigned, std::vector<TensorView>(inputs.begin(), inputs.end()), options, state_.get());
  }
  template <class Token>
  auto async_execute(const TensorView& input, const ExecuteOptions& options, Token&& token) const {
    return async_execute(std::span(&input, 1), options, std::forward<Token>(token));
  }
  template <class Inputs, class Token>
  auto async_execute(const Inputs& inputs, Token&& token) const {
    return async_execute(inputs, ExecuteOptions{}, std::forward<Token>(token));
  }

  /// Another ring kernel that runs the same commands with the same constants, and has states of its
  /// own, zeros at first. Nothing of the graph is copied. Errors: those of
  /// RingKernelRuntime::launch and activate; E6004.
  [[nodiscard]] Result<CompiledFunction> instance(const FunctionOptions& options = {}) const;

  /// Copies all elements of a state of this instance out, or in, by its number in the signature or
  /// by its name. It is done behind the executions that were accepted before, and between two
  /// others: an execution sees the state before or behind it, never a part. One that has timed out
  /// or was cancelled may still come later. Waits at most for `timeout`; zero: the runtime's
  /// `call_timeout`. Errors: invalid_argument (no such state), E2004 (other elements), E3007 (other
  /// count), deadline_exceeded (nothing was copied), kernel_not_found (an empty handle), and those
  /// above.
  template <ElementOrByteRange Range>
  Result<void> read_state(std::size_t state, Range&& elements,
                          std::chrono::nanoseconds timeout = {}) const {
    return copy_out(state, dtype_of<std::ranges::range_value_t<Range>>,
                    std::as_writable_bytes(std::span(elements)), timeout);
  }
  template <ElementOrByteRange Range>
  Result<void> read_state(std::string_view state, Range&& elements,
                          std::chrono::nanoseconds timeout = {}) const {
    const Result<std::size_t> number = find_state(state);
    return number ? read_state(*number, elements, timeout) : number.error();
  }
  /// As `read_state`.
  template <ElementOrByteRange Range>
  Result<void> write_state(std::size_t state, const Range& elements,
                           std::chrono::nanoseconds timeout = {}) const {
    return copy_in(state, dtype_of<std::ranges::range_value_t<Range>>,
                   std::as_bytes(std::span(elements)), timeout);
  }
  template <ElementOrByteRange Range>
  Result<void> write_state(std::string_view state, const Range& elements,
                           std::chrono::nanoseconds timeout = {}) const {
    const Result<std::size_t> number = find_state(state);
    return number ? write_state(*number, elements, timeout) : number.error();
  }
  /// Makes zeros of all states of this instance, at once, as they were at first. Likewise.
  Result<void> reset_states(std::chrono::nanoseconds timeout = {}) const;

  /// For executions again and again, with the outputs in place; holds the function. It looks for no
  /// NaN, and takes no resident tensors. Errors: kernel_not_found (an empty handle), invalid_state
  /// (made before a fork), message_too_large.
  [[nodiscard]] Result<PreparedCall> prepare() const;

 private:
  [[nodiscard]] Result<std::size_t> find_state(std::string_view name) const;
  Result<void> copy_out(std::size_t state, DType dtype, std::span<std::byte> elements,
                        std::chrono::nanoseconds timeout) const;
  Result<void> copy_in(std::size_t state, DType dtype, std::span<const std::byte> elements,
                       std::chrono::nanoseconds timeout) const;

  std::shared_ptr<detail::FunctionState> state_;
};

}  // namespace ringkernel
