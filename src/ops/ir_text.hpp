/// Operations in the text of the public Core IR grammar, as programs name them:
///
///     MatMul(%0, %1)          Sum(%x, [0, -1], true)           Slice(%0, [0:4:2, 1:3])
///     BinOp(Add, %0, %1)      Conv2d(%0, %1, [1, 1], Custom([[0, 1], [2, 0]]))
///
/// An operation is its opcode and, in parentheses, its operands and then its attributes; lists may
/// end with a comma, blanks stand anywhere between two words. Beyond the grammar: every op of the
/// table is known, by any of its names (`add`, `tensor.add`, `Add`); Fill(%0, [2, 3]) has the shape
/// of its result; an extent of Reshape may be -1; Conv2d may have a number of groups at the end;
/// `#` begins a comment, up to the end of its line.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Ownership: everything borrows the text.
/// Errors: invalid_argument with the position, what was expected there and what was found;
/// E6003 for an opcode that no op has. Values are not checked here: `infer` does that.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ringkernel/op.hpp"

namespace ringkernel::ops {

/// A place in a text, moved forward by what is read. Copy it to look ahead.
class IrCursor {
 public:
  explicit IrCursor(std::string_view text) noexcept : text_(text) {}

  /// Skips blanks and comments; whether nothing else is left.
  [[nodiscard]] bool at_end() noexcept;
  /// The next character behind them; 0 at the end.
  [[nodiscard]] char peek() noexcept;
  /// Takes the character if it comes next.
  [[nodiscard]] bool accept(char wanted) noexcept;
  /// Takes the character, or says that it was expected, with `or_else` as the other possibility.
  Result<void> expect(char wanted, std::string_view or_else = {});
  /// A letter or `_`, then letters, digits, `_` and, if `dotted`, `.`.
  [[nodiscard]] Result<std::string_view> identifier(std::string_view what, bool dotted = false);
  /// `%` and the digits or the identifier behind it, which is what comes back.
  [[nodiscard]] Result<std::string_view> value();
  [[nodiscard]] Result<std::int64_t> integer(std::string_view what);
  /// `-`, digits, `.` and digits, `e` and an exponent, as they stand: only the first digits must.
  [[nodiscard]] Result<std::string_view> number(std::string_view what);
  /// `"`, characters of which `\` takes the next one along, `"`. What is between them.
  [[nodiscard]] Result<std::string_view> string(std::string_view what);
  /// `[`, integers with commas in between or behind, `]`.
  [[nodiscard]] Result<IntList> integers(std::string_view what);

  /// Bytes before the place.
  [[nodiscard]] std::size_t position() const noexcept { return position_; }
  /// invalid_argument: "line 1, column 5: expected `what`, found ...". Skips blanks.
  [[nodiscard]] Error expected(std::string_view what);
  /// "line 1, column 5", counted from 1, columns in bytes.
  [[nodiscard]] std::string where() const;

 private:
  void skip_blanks() noexcept;

  std::string_view text_;
  std::size_t position_ = 0;
};

/// One operation as it stands in a text.
struct IrOperation {
  Op op = Op::noop;
  OpAttributes attributes{};
  std::uint32_t operand_count = 0;
  std::array<std::string_view, inputs_max> operands{};  ///< without their `%`
};

/// What an error quotes of a word in a text: all of it, or its beginning and "..." if it is long.
[[nodiscard]] std::string excerpt(std::string_view word);
/// What it calls an input, output or state: "input 0", and "input 0 ('image')" where it has a name.
[[nodiscard]] std::string place_text(const char* what, std::size_t number, std::string_view name);

/// The opcode, or another name, of an op. `what` says which name is missing if none is there.
[[nodiscard]] Result<Op> read_opcode(IrCursor& cursor);

/// `true` or `false`.
[[nodiscard]] Result<bool> read_bool(IrCursor& cursor);

/// `f32`, `i32` or `i64`. E2005: f64.
[[nodiscard]] Result<DType> read_dtype(IrCursor& cursor);

/// An operation, up to its closing parenthesis. E2007: more operands than any op has.
[[nodiscard]] Result<IrOperation> read_operation(IrCursor& cursor);

/// The attributes of `op` as they stand behind its operands: `[1], false` for sum; nothing for ops
/// that have none.
[[nodiscard]] Result<OpAttributes> read_attributes(IrCursor& cursor, Op op);

/// A text that is one operation, or the attributes of `op`, and nothing else.
[[nodiscard]] Result<IrOperation> parse_operation(std::string_view text);
[[nodiscard]] Result<OpAttributes> parse_attributes(std::string_view text, Op op);

}  // namespace ringkernel::ops
