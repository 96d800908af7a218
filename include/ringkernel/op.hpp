/// The op table as C++ sees it, and the shape rules.
///
/// Threading: any thread; everything here is constant or pure.
/// Errors: `infer` returns the E-codes of the MIND specification with the required context in the
/// detail (op, shapes, axis, extents); `docs/OPS.md` lists which op raises which.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "ringkernel/protocol/command.h"
#include "ringkernel/result.hpp"
#include "ringkernel/tensor.hpp"

namespace ringkernel {

/// Ids from protocol/ops.def.
enum class Op : std::uint16_t {
#define RK_OP(id, name, inputs, types, attrs, rule, rereads) name = id,
#include "ringkernel/protocol/ops.def"
#undef RK_OP
};

/// Up to 8 integers without allocation: axes, extents. More is remembered as a count, and the first
/// of them, which `infer` refuses.
class IntList {
 public:
  /// Leaves the values as they are, of which none can be read: a request holds ten lists.
  constexpr IntList() noexcept {
    if (std::is_constant_evaluated()) values_.fill(0);
  }
  constexpr IntList(std::initializer_list<std::int64_t> values) noexcept
      : IntList(std::span<const std::int64_t>(values.begin(), values.size())) {}
  constexpr explicit IntList(std::span<const std::int64_t> values) noexcept : IntList() {
    count_ = static_cast<std::uint32_t>(values.size());
    for (std::size_t i = 0; i < values.size() && i < rank_max; ++i) values_[i] = values[i];
    if (values.size() > rank_max) note_first_beyond(values[rank_max]);
  }

  /// Beyond 8 only the count goes up.
  constexpr void push_back(std::int64_t value) noexcept {
    if (count_ < rank_max) values_[count_] = value;
    if (count_ == rank_max) note_first_beyond(value);
    ++count_;
  }

  [[nodiscard]] constexpr bool fits() const noexcept { return count_ <= rank_max; }
  [[nodiscard]] constexpr std::size_t count() const noexcept { return count_; }
  [[nodiscard]] constexpr std::span<const std::int64_t> values() const noexcept {
    return {values_.data(), fits() ? count_ : rank_max};
  }

  /// The first that does not fit, or the nearest number of 32 bits. Only where `fits()` is false.
  [[nodiscard]] constexpr std::int64_t first_beyond() const noexcept { return first_beyond_; }

  /// Of those that fit; lists that do not are equal to what has their first values and count.
  constexpr bool operator==(const IntList& other) const noexcept {
    return count_ == other.count_ && std::ranges::equal(values(), other.values());
  }

 private:
  constexpr void note_first_beyond(std::int64_t value) noexcept {
    using Narrow = std::numeric_limits<std::int32_t>;
    first_beyond_ =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(value, Narrow::min(), Narrow::max()));
  }

  std::array<std::int64_t, rank_max> values_;  // those below count_ are set
  std::uint32_t count_ = 0;
  std::int32_t first_beyond_ = 0;
};

/// The elements starts[d], starts[d] + steps[d], ... below ends[d] of each dim d.
struct SliceRanges {
  IntList starts{};  ///< from 0 on
  IntList ends{};    ///< at most the extent
  IntList steps{};   ///< positive

  constexpr bool operator==(const SliceRanges&) const noexcept = default;
};

/// How conv2d pads its images with zeros; in max_pool what is padded takes no part.
enum class Padding : std::uint8_t {
  valid,   ///< not at all
  same,    ///< to ceil(extent / stride) outputs; an odd zero goes to the bottom or the right
  custom,  ///< by `OpAttributes::pads`
};

/// What `compare` asks of two elements. Greater is less with the operands swapped.
enum class Comparison : std::uint8_t {
  equal = RK_COMPARE_EQUAL,
  not_equal = RK_COMPARE_NOT_EQUAL,
  less = RK_COMPARE_LESS,
  less_equal = RK_COMPARE_LESS_EQUAL,
};

namespace detail {
/// What the kinds of attrs.def are in C++.
struct AttributeKinds {
  using list_type = IntList;
  using flag_type = bool;
  using ranges_type = SliceRanges;
  using padding_type = Padding;
  using count_type = std::int64_t;
  using comparison_type = Comparison;
  using dtype_type = DType;
};
}  // namespace detail

/// Attributes as a user gives them: the members are the attributes of protocol/attrs.def, such as
/// `IntList axes{}` and `bool keepdims{}`. An op reads those of its rule.
struct OpAttributes {
#define RK_ATTRIBUTE(kind, field, initial, text, rules) \
  detail::AttributeKinds::kind##_type field initial;
#include "ringkernel/protocol/attrs.def"

  constexpr bool operator==(const OpAttributes&) const noexcept = default;
};

/// The element types of an op's operands and of its result, as ops.def explains them.
enum class OperandTypes : std::uint8_t { f32, any, indexed, compared, converted, selected };

/// One row of the table.
struct OpInfo {
  Op op;
  std::string_view name;
  std::uint32_t input_count;
  OperandTypes types;
  std::string_view rule;
  bool reads_attributes;  ///< otherwise what its attributes say makes no difference
};

/// All rows, in the order of ops.def.
[[nodiscard]] std::span<const OpInfo> op_table() noexcept;

/// By id, or by name: `add`, `tensor.add` or the IR opcode `Add`. nullptr if there is none.
[[nodiscard]] const OpInfo* find_op(std::uint16_t id) noexcept;
[[nodiscard]] const OpInfo* find_op(std::string_view name) noexcept;

/// What an op makes of its inputs.
struct Inference {
  TensorDesc output;
  rk_op_attrs attrs;  ///< ready for the command
};

/// Checks arity, element types, shapes and attributes, and derives the output.
[[nodiscard]] Result<Inference> infer(Op op, std::span<const TensorDesc> inputs,
                                      const OpAttributes& attributes);

}  // namespace ringkernel
