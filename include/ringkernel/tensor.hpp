/// Value types for tensors: element type, shape, descriptor, borrowed view.
///
/// Tensors are dense and row-major. None of these types allocates.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Ownership: `TensorView` borrows its elements; whoever takes one says until when it reads them.
/// Units: extents and counts in elements, `bytes()` in bytes.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "ringkernel/limits.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel {

/// The type of a tensor's elements.
enum class DType : std::uint8_t {
  none = RK_DTYPE_NONE,
  f32 = RK_DTYPE_F32,
  i32 = RK_DTYPE_I32,
  i64 = RK_DTYPE_I64,
};

/// Bytes of one element; 0 for `none`.
[[nodiscard]] constexpr std::size_t element_bytes(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
    case DType::i32: return 4;
    case DType::i64: return 8;
    case DType::none: break;
  }
  return 0;
}

/// "f32"; "none".
[[nodiscard]] const char* name(DType dtype) noexcept;

/// Up to `rank_max` extents, outermost first. Rank 0 is a scalar. Extents beyond the rank are 1, so
/// that equal shapes have equal bytes.
class Shape {
 public:
  constexpr Shape() noexcept { dims_.fill(1); }

  /// Unchecked: at most `rank_max` positive extents. Use `make` for foreign numbers.
  constexpr Shape(std::initializer_list<std::uint32_t> dims) noexcept : Shape() {
    for (const std::uint32_t dim : dims)
      if (rank_ < rank_max) dims_[rank_++] = dim;
  }

  /// Checks rank (E3002), positive extents (E3006), and that count and bytes fit (E6004).
  [[nodiscard]] static Result<Shape> make(std::span<const std::int64_t> dims);

  [[nodiscard]] constexpr std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] constexpr std::uint32_t operator[](std::size_t dim) const noexcept {
    return dims_[dim];
  }
  [[nodiscard]] constexpr std::span<const std::uint32_t> dims() const noexcept {
    return {dims_.data(), rank_};
  }
  /// Product of the extents; 1 for rank 0. A shape from `make` cannot overflow.
  [[nodiscard]] constexpr std::uint64_t element_count() const noexcept {
    std::uint64_t count = 1;
    for (std::size_t dim = 0; dim < rank_; ++dim) count *= dims_[dim];
    return count;
  }
  /// "[2, 3]".
  [[nodiscard]] std::string text() const;

  constexpr bool operator==(const Shape&) const noexcept = default;

 private:
  std::array<std::uint32_t, rank_max> dims_{};
  std::uint32_t rank_ = 0;
};

/// Element type and shape.
struct TensorDesc {
  DType dtype = DType::f32;
  Shape shape;

  [[nodiscard]] constexpr std::uint64_t element_count() const noexcept {
    return shape.element_count();
  }
  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept {
    return element_count() * element_bytes(dtype);
  }
  /// "f32[2, 3]".
  [[nodiscard]] std::string text() const;

  constexpr bool operator==(const TensorDesc&) const noexcept = default;
};

/// Names a resident tensor (tensor_handle.hpp): a number and no address, so that a stale one is an
/// error and nothing worse.
using TensorId = std::uint64_t;
/// The id of no tensor.
inline constexpr TensorId no_tensor = ~TensorId{0};

/// The element type that a C++ type stands for; `none` for others.
template <class T>
inline constexpr DType dtype_of = DType::none;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;

/// float, std::int32_t or std::int64_t.
template <class T>
concept Element = (dtype_of<T> != DType::none);

/// A vector, an array or a span of elements.
template <class T>
concept ElementRange = requires(const T& elements) {
  std::span(elements);
  requires Element<typename decltype(std::span(elements))::value_type>;
};

/// A tensor whose elements somebody else owns: in host memory, or resident on the device.
struct TensorView {
  TensorDesc desc;
  const void* data = nullptr;
  /// Readable elements at `data`. Must equal the shape's; checked where the view is used.
  std::uint64_t element_count = 0;
  /// Not 0: the resident tensor that it is; then `data` is null.
  TensorId tensor = 0;

  TensorView() = default;
  /// `desc.bytes()` readable bytes at `elements`.
  TensorView(TensorDesc descriptor, const void* elements)
      : desc(descriptor), data(elements), element_count(descriptor.element_count()) {}
  /// One-dimensional.
  template <ElementRange Elements>
  TensorView(const Elements& elements)  // NOLINT: conversion is the purpose
      : TensorView({static_cast<std::uint32_t>(std::size(elements))}, elements) {}
  template <ElementRange Elements>
  TensorView(Shape shape, const Elements& elements)
      : desc{dtype_of<typename decltype(std::span(elements))::value_type>, shape},
        data(std::data(elements)),
        element_count(std::size(elements)) {}

  /// The elements as what they are; empty if T is not their type.
  template <Element T>
  [[nodiscard]] std::span<const T> elements() const noexcept {
    if (desc.dtype != dtype_of<T>) return {};
    return {static_cast<const T*>(data), static_cast<std::size_t>(element_count)};
  }
  /// `elements<float>()`.
  [[nodiscard]] std::span<const float> floats() const noexcept { return elements<float>(); }
};

}  // namespace ringkernel
