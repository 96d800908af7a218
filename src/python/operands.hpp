/// Python objects as operands, and new arrays for results.
///
/// An operand is a buffer (numpy arrays and scalars, array.array, memoryview, bytes with a format),
/// what has `__dlpack__` and lies in the host's memory, a resident tensor, or a number. Buffers are
/// read where they are: C-contiguous float32, int32 or int64, nothing else, and nothing is
/// converted without being asked.
///
/// Threading: with the interpreter's lock held; views are readable without it.
/// Ownership: `Operands` keeps the buffers until it goes.
/// Errors: thrown as Python exceptions, with the conversion to write.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "python/errors.hpp"
#include "python/numpy.hpp"
#include "ringkernel/compiled_function.hpp"
#include "ringkernel/op.hpp"
#include "ringkernel/prepared_call.hpp"
#include "ringkernel/tensor.hpp"

namespace ringkernel::python {

/// The elements of an object: an array, or whatever else has a buffer.
class Buffer {
 public:
  Buffer() noexcept = default;
  Buffer(Buffer&&) = delete;  // an open one may point into itself
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() { close(); }

  /// `writable`: it must take elements. `what` names it in errors: "operand 0".
  void open(nb::handle object, bool writable, const char* what, std::size_t number);
  void close() noexcept;
  [[nodiscard]] const TensorDesc& desc() const noexcept { return elements_.desc; }
  /// Null while it is not open.
  [[nodiscard]] void* data() const noexcept { return elements_.data; }

 private:
  void open_buffer(nb::handle object, bool writable, const char* what, std::size_t number);

  ArrayElements elements_;
  nb::object array_;  // that they are of, which may be one over foreign memory; or null
  Py_buffer buffer_;  // set while open_
  bool open_ = false;
};

/// Where a result goes.
struct Place {
  nb::object object;  ///< what the caller gets
  void* data = nullptr;
  std::unique_ptr<Buffer> buffer;  ///< of what is no array
};
/// `out`, which takes results like `expected`; a new array for None. Numbers are for errors.
[[nodiscard]] Place place_for(nb::handle out, const TensorDesc& expected, std::size_t number);

/// The operands of one call. At most `capacity`.
template <std::size_t capacity>
class Operands {
 public:
  /// Null, or too many: TypeError.
  void add(nb::handle object) {
    if (count_ == capacity) raise_type_error("too many operands");
    if (!add_number(object)) add_tensor(object);
    ++count_;
  }
  /// What is a view already.
  void add(const TensorView& view) {
    if (count_ == capacity) raise_type_error("too many operands");
    views_[count_++] = view;
  }
  /// A number takes the element type of the first operand that is none; float32 if there is none.
  /// Not of a condition; and a condition, and an index, is int32.
  [[nodiscard]] std::span<const TensorView> views(Op op = Op::noop) {
    if (numbers_ != 0) resolve_numbers(op);
    return std::span(views_).first(count_);
  }

 private:
  bool add_number(nb::handle object);
  void add_tensor(nb::handle object);
  void resolve_numbers(Op op);
  void resolve(std::size_t operand, DType dtype);

  std::size_t count_ = 0;
  std::uint32_t numbers_ = 0;  // bit i: operand i is one
  std::array<TensorView, capacity> views_;
  std::array<Buffer, capacity> buffers_;
  std::array<nb::handle, capacity> number_objects_;
  union Number {
    float f32;
    std::int32_t i32;
    std::int64_t i64;
  };
  std::array<Number, capacity> values_;
};

/// Of a usual call.
inline constexpr std::size_t few_operands = 4;
static_assert(few_operands >= inputs_max);

extern template class Operands<few_operands>;
extern template class Operands<graph_inputs_max>;

/// A new array with the elements of a view.
[[nodiscard]] nb::object array_of(const TensorView& view);
/// float32, int32 or int64, as numpy's, its name, or None (float32).
[[nodiscard]] DType dtype_from(nb::handle object);
[[nodiscard]] const char* numpy_name(DType dtype) noexcept;
/// What has `__index__`; nothing is rounded.
[[nodiscard]] std::int64_t int_from(nb::handle object);
/// An integer or a sequence of them.
[[nodiscard]] IntList ints_from(nb::handle object);
[[nodiscard]] Shape shape_from(nb::handle object);
[[nodiscard]] nb::tuple shape_to(const Shape& shape);
/// Seconds; None: zero, which is the library's default. ValueError where it is not above zero.
[[nodiscard]] std::chrono::nanoseconds timeout_from(nb::handle seconds);
/// Bytes of any buffer, copied.
[[nodiscard]] std::vector<std::byte> bytes_from(nb::handle object);
[[nodiscard]] nb::bytes bytes_to(std::span<const std::byte> bytes);

/// Calls `use` with the elements at `data` as what they are.
template <class Byte, class Use>
Result<void> with_elements(const TensorDesc& desc, Byte* data, Use&& use) {
  const auto count = static_cast<std::size_t>(desc.element_count());
  const auto as = [&]<class T>(T) {
    using Element = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return use(std::span<Element>(reinterpret_cast<Element*>(data), count));
  };
  switch (desc.dtype) {
    case DType::i32: return as(std::int32_t{});
    case DType::i64: return as(std::int64_t{});
    default: return as(float{});
  }
}

}  // namespace ringkernel::python
