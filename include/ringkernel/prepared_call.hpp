/// `PreparedCall`: a request that is made again and again. What it asks for is checked, planned and
/// laid out once; each call writes the operands' elements and has the result in place.
///
///     PreparedCall add = kernel.prepare(ops::add(a, b)).value();
///     while (next(a, b)) {
///       const ResultView sum = add.call({a, b}).value();
///       use(sum.elements<float>());
///     }
///
/// On the rings it is a message like any other, and its result is compared with what was expected.
///
/// Threading: distinct objects safe, shared objects unsafe: one for each thread that calls. A call
/// while another one is under way is busy; whether its view is still read is not seen.
/// Ownership: shares the ring kernel's state, or the function; operands are borrowed by each call,
/// and copied before a result is written, so that a result may go where an operand is.
/// Errors: busy (another thread is calling); E2007, E2004, E3007: operands or results in another
/// number, of another element type, of another number of elements than was prepared; then those of
/// Kernel::call.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "ringkernel/message.hpp"
#include "ringkernel/options.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel {

/// The elements of an operand whose shape is known.
struct Elements {
  const void* data = nullptr;
  std::uint64_t count = 0;
  DType dtype = DType::none;

  Elements() noexcept = default;
  /// Precondition: the view is of elements, not of a resident tensor.
  explicit Elements(const TensorView& view) noexcept
      : data(view.data), count(view.element_count), dtype(view.desc.dtype) {}
  template <ElementRange Range>
  Elements(const Range& range)  // NOLINT: conversion is the purpose
      : data(std::data(range)),
        count(std::size(range)),
        dtype(dtype_of<typename decltype(std::span(range))::value_type>) {}
};

/// Where the elements of a result go.
struct ElementsOut {
  void* data = nullptr;
  std::uint64_t count = 0;
  DType dtype = DType::none;

  ElementsOut() noexcept = default;
  /// `desc.bytes()` writable bytes at `to`.
  ElementsOut(const TensorDesc& desc, void* to) noexcept
      : data(to), count(desc.element_count()), dtype(desc.dtype) {}
  template <Element T, std::size_t extent>
  ElementsOut(std::span<T, extent> to)  // NOLINT: conversion is the purpose
      : data(to.data()), count(to.size()), dtype(dtype_of<T>) {}
  template <ElementRange Range>
  requires(!std::is_const_v<typename decltype(std::span(std::declval<Range&>()))::element_type>)
      ElementsOut(Range& to)
      : ElementsOut(std::span(to)) {}  // NOLINT: conversion is the purpose
};

namespace detail {
class PreparedState;

/// One tensor of a result, whose data begin `offset` bytes from those of the first.
struct ResultPart {
  TensorDesc desc;
  std::uint64_t offset = 0;
};
}  // namespace detail

/// The result of a prepared call, where it lies: valid until the next call, and while the
/// `PreparedCall` lives.
class ResultView {
 public:
  ResultView(const std::byte* data, std::span<const detail::ResultPart> parts) noexcept
      : data_(data), parts_(parts) {}

  /// How many tensors: 0 if it went into a resident one.
  [[nodiscard]] std::size_t size() const noexcept { return parts_.size(); }
  /// Precondition: `output < size()`.
  [[nodiscard]] TensorView output(std::size_t output) const noexcept {
    return {parts_[output].desc, data_ + parts_[output].offset};
  }
  /// Empty if T is not the output's element type.
  template <Element T>
  [[nodiscard]] std::span<const T> elements(std::size_t output = 0) const noexcept {
    return this->output(output).template elements<T>();
  }

 private:
  const std::byte* data_;
  std::span<const detail::ResultPart> parts_;
};

/// A request that was checked and laid out once, for calls that only write its operands.
class PreparedCall {
 public:
  explicit PreparedCall(std::unique_ptr<detail::PreparedState> state) noexcept;
  PreparedCall(PreparedCall&& other) noexcept;
  PreparedCall& operator=(PreparedCall&& other) noexcept;
  ~PreparedCall();

  /// Sends these operands, in order, and waits for the result. Resident tensors of the request stay
  /// what they are and are not among the operands, which errors count from 0 without them.
  [[nodiscard]] Result<ResultView> call(std::span<const Elements> operands,
                                        const SendOptions& options = {});
  [[nodiscard]] Result<ResultView> call(std::initializer_list<Elements> operands,
                                        const SendOptions& options = {}) {
    return call(std::span(operands.begin(), operands.size()), options);
  }

  /// The same with the result in the caller's memory, one place for each of its tensors. After an
  /// error what the places hold is unspecified.
  Result<void> call_into(std::span<const ElementsOut> results, std::span<const Elements> operands,
                         const SendOptions& options = {});
  Result<void> call_into(std::initializer_list<ElementsOut> results,
                         std::initializer_list<Elements> operands,
                         const SendOptions& options = {}) {
    return call_into(std::span(results.begin(), results.size()),
                     std::span(operands.begin(), operands.size()), options);
  }

  /// The same if this thread can run it here and now: true. False: nothing was sent, because
  /// somebody else is at work, or works for others (OpenCL), or this call has taken more than
  /// `longest` lately, or others more than 100 us. For a thread that must not wait: an event
  /// loop's, which then sends the message asynchronously, or one that has a lock.
  [[nodiscard]] Result<bool> try_call_into(
      std::span<const ElementsOut> results, std::span<const Elements> operands,
      std::chrono::nanoseconds longest = std::chrono::microseconds(100));

 private:
  std::unique_ptr<detail::PreparedState> state_;
};

}  // namespace ringkernel
