/// `Tensor`: the handle of a resident tensor, one whose elements stay on the device.
///
///     auto weights = runtime->allocate({DType::f32, {784, 10}}).value();
///     weights.write(numbers).value();
///     auto scores = kernel->call(ops::matmul(image, weights));           // inline and resident
///     kernel->call(ops::relu(weights).into(weights));                    // no data in the reply
///
/// A handle is copyable and counts its copies, as a shared_ptr: services hand the same weights to
/// many threads, and an early return must not leak device memory. The last copy that goes gives the
/// memory back; `deallocate` does it at once and leaves the other copies stale. A request names a
/// tensor by its id, never by an address, so a stale handle, or one of another runtime, is an error
/// and nothing worse.
///
/// Threading: distinct and shared objects safe; only assignment needs a handle of its own.
/// Ownership: copies share the tensor. It outlives its last handle, or `deallocate`, for as long as
/// the device may touch it: until every message that uses it has been answered, or its kernel has
/// been terminated and the device obeys. Only then is the memory wiped and given back.
/// Errors: tensor_not_found (deallocated; an empty handle; of another runtime), runtime_closed.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

#include "ringkernel/result.hpp"
#include "ringkernel/tensor.hpp"

namespace ringkernel {

namespace detail {
class TensorState;
}  // namespace detail

/// A vector, an array or a span of elements, or of bytes, whatever they mean.
template <class T>
concept ElementOrByteRange = std::ranges::contiguous_range<T> && std::ranges::sized_range<T> &&
    (Element<std::ranges::range_value_t<T>> ||
     std::same_as<std::ranges::range_value_t<T>, std::byte>);

/// The handle of a resident tensor.
class Tensor {
 public:
  /// An empty handle, which names no tensor.
  Tensor() noexcept = default;
  explicit Tensor(std::shared_ptr<detail::TensorState> state) noexcept : state_(std::move(state)) {}

  /// Never used twice in a process; `no_tensor` for an empty handle.
  [[nodiscard]] TensorId id() const noexcept;
  /// dtype `none` for an empty handle.
  [[nodiscard]] TensorDesc desc() const noexcept;
  /// As an operand, wherever a TensorView is taken.
  operator TensorView() const noexcept;  // NOLINT: conversion is the purpose

  /// Copies all elements in, or out. Waits until no message in flight uses the tensor (`read`: none
  /// has it as its output), for at most `timeout`; zero: the runtime's `call_timeout`. A message
  /// that is sent meanwhile waits for the copy, not for this wait: where others use the tensor
  /// without a pause, `write` may time out, and a second tensor is the better place.
  /// Errors: E2004 (other elements), E3007 (other count), deadline_exceeded.
  template <ElementOrByteRange Range>
  Result<void> write(const Range& elements, std::chrono::nanoseconds timeout = {}) {
    return copy_in(dtype_of<std::ranges::range_value_t<Range>>, std::as_bytes(std::span(elements)),
                   timeout);
  }
  /// As `write`; waits only for messages that have it as their output.
  template <ElementOrByteRange Range>
  Result<void> read(Range&& elements, std::chrono::nanoseconds timeout = {}) const {
    return copy_out(dtype_of<std::ranges::range_value_t<Range>>,
                    std::as_writable_bytes(std::span(elements)), timeout);
  }

  /// Ends the tensor for all copies of the handle. Never waits: a tensor in flight goes with the
  /// last message that uses it.
  Result<void> deallocate();

 private:
  Result<void> copy_in(DType dtype, std::span<const std::byte> elements,
                       std::chrono::nanoseconds timeout);
  Result<void> copy_out(DType dtype, std::span<std::byte> elements,
                        std::chrono::nanoseconds timeout) const;

  std::shared_ptr<detail::TensorState> state_;
};

}  // namespace ringkernel
