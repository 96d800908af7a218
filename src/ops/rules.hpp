/// The shape rules named in protocol/ops.def, and the checks that they share.
///
/// A rule looks at operands that `infer` has checked already: right in number, one element type,
/// positive extents, at most 2^32-1 elements. It checks what its family of ops demands and gives
/// the output.
///
/// Threading: any thread; pure.
/// Errors: each rule names its E-codes; details carry the op, the shapes and the failing index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "ringkernel/op.hpp"

namespace ringkernel::ops {

/// One use of an op, as a rule sees it.
struct OpCall {
  const OpInfo& op;
  std::span<const TensorDesc> inputs;
  const OpAttributes& attributes;
};

/// The rules, each as often as the table names it. What they raise stands where they are defined.
#define RK_OP(id, name, inputs, types, attrs, rule, rereads) \
  [[nodiscard]] Result<Inference> infer_##rule(const OpCall& call);
#include "ringkernel/protocol/ops.def"
#undef RK_OP

/// Which attributes of attrs.def, counted from 0, a rule reads: a bit for each.
[[nodiscard]] constexpr std::uint32_t attributes_read_by(std::string_view rule) noexcept {
  constexpr std::string_view readers[] = {
#define RK_ATTRIBUTE(kind, field, initial, text, rules) " " #rules " ",
#include "ringkernel/protocol/attrs.def"
  };
  std::uint32_t read = 0;
  for (std::size_t i = 0; i < std::size(readers); ++i)
    for (std::size_t at = readers[i].find(rule); at != std::string_view::npos;
         at = readers[i].find(rule, at + 1))
      if (readers[i][at - 1] == ' ' && readers[i][at + rule.size()] == ' ') read |= 1u << i;
  return read;
}

/// `axes` as a bit mask of dims of the input; each lies in [lowest, rank), negative ones count from
/// the end. E3004, E3005.
[[nodiscard]] Result<std::uint32_t> axis_mask(const OpCall& call, std::int64_t lowest);

/// Right-aligned broadcast of two shapes. E3001 names the dim of the aligned shape, 0 = leftmost;
/// E6004.
[[nodiscard]] Result<Shape> broadcast(const OpCall& call, std::span<const std::uint32_t> a,
                                      std::span<const std::uint32_t> b);

/// Whether each element of the result depends on one element of each operand, so that the result
/// may take the place of an operand of its shape.
[[nodiscard]] bool is_elementwise(Op op) noexcept;

/// Whether the result has the elements of the first operand, in their order, by another shape.
[[nodiscard]] bool is_view(Op op) noexcept;

/// Whether there can be a tensor like this; its extents may be unchecked. E2005, E3002, E3006,
/// E6004.
[[nodiscard]] Result<void> check_desc(const TensorDesc& desc);

inline constexpr std::int64_t word_max = std::numeric_limits<rk_u32>::max();

/// `count` numbers, from `least` to the largest of 32 bits.
[[nodiscard]] inline bool are_words(const IntList& list, std::size_t count, std::int64_t least) {
  return list.count() == count && std::ranges::all_of(list.values(), [least](std::int64_t value) {
           return value >= least && value <= word_max;
         });
}

/// For an attribute record.
[[nodiscard]] constexpr rk_u32 as_word(std::int64_t value) noexcept {
  return static_cast<rk_u32>(value);
}

/// For an error: "[1, 2]".
[[nodiscard]] std::string list_text(const IntList& list);

/// An error whose detail is "<op>(<inputs>): <what>".
[[nodiscard]] Error call_error(Errc code, const OpCall& call, const std::string& what);

}  // namespace ringkernel::ops
