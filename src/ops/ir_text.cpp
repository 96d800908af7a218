#include "ops/ir_text.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

#include "ops/rules.hpp"

namespace ringkernel::ops {
namespace {

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool starts_identifier(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool continues_identifier(char c) noexcept { return starts_identifier(c) || is_digit(c); }

/// An error's text shows this much of what was found, and of a word that it quotes.
constexpr std::size_t found_max = 24;
constexpr std::size_t excerpt_max = 64;

/// What stands at the front of `rest`, for an error.
std::string found(std::string_view rest) {
  if (rest.empty()) return "the end";
  std::size_t length = 1;
  if (continues_identifier(rest.front()))
    while (length < std::min(rest.size(), found_max) && continues_identifier(rest[length]))
      ++length;
  if (const char first = rest.front(); first < ' ' || first > '~')
    return "byte " + std::to_string(static_cast<unsigned char>(first));
  return "'" + std::string(rest.substr(0, length)) + "'";
}

}  // namespace

std::string excerpt(std::string_view word) {
  if (word.size() <= excerpt_max) return std::string(word);
  return std::string(word.substr(0, excerpt_max)) + "...";
}

std::string place_text(const char* what, std::size_t number, std::string_view name) {
  return std::string(what) + " " + std::to_string(number) +
         (name.empty() ? "" : " ('" + excerpt(name) + "')");
}

// --- cursor -----------------------------------------------------------------------------------

void IrCursor::skip_blanks() noexcept {
  while (position_ < text_.size() && (is_blank(text_[position_]) || text_[position_] == '#'))
    if (text_[position_] == '#')
      position_ = std::min(text_.find('\n', position_), text_.size());
    else
      ++position_;
}

bool IrCursor::at_end() noexcept {
  skip_blanks();
  return position_ == text_.size();
}

char IrCursor::peek() noexcept { return at_end() ? '\0' : text_[position_]; }

bool IrCursor::accept(char wanted) noexcept {
  if (at_end() || text_[position_] != wanted) return false;
  ++position_;
  return true;
}

std::string IrCursor::where() const {
  const std::string_view before = text_.substr(0, position_);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // 0 where there is none
  return "line " + std::to_string(line) + ", column " +
         std::to_string(before.size() - line_start + 1);
}

Error IrCursor::expected(std::string_view what) {
  skip_blanks();
  return {Errc::invalid_argument, where() + ": expected " + std::string(what) + ", found " +
                                      found(text_.substr(position_))};
}

Result<void> IrCursor::expect(char wanted, std::string_view or_else) {
  if (accept(wanted)) return {};
  const std::string quoted = std::string("'") + wanted + "'";
  return expected(or_else.empty() ? quoted : std::string(or_else) + " or " + quoted);
}

Result<std::string_view> IrCursor::identifier(std::string_view what, bool dotted) {
  if (!starts_identifier(peek())) return expected(what);
  const std::size_t start = position_;
  while (position_ < text_.size() &&
         (continues_identifier(text_[position_]) || (dotted && text_[position_] == '.')))
    ++position_;
  return text_.substr(start, position_ - start);
}

Result<std::string_view> IrCursor::value() {
  if (!accept('%')) return expected("an operand, '%' and its name");
  const std::size_t start = position_;
  if (start == text_.size() || !continues_identifier(text_[start]))
    return expected("the name of an operand");
  const bool is_number = is_digit(text_[start]);
  while (position_ < text_.size() &&
         (is_number ? is_digit(text_[position_]) : continues_identifier(text_[position_])))
    ++position_;
  return text_.substr(start, position_ - start);
}

Result<std::int64_t> IrCursor::integer(std::string_view what) {
  const char first = peek();
  if (!is_digit(first) && first != '-') return expected(what);
  std::int64_t value = 0;
  const char* const begin = text_.data() + position_;
  const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (status == std::errc::result_out_of_range) return expected("a number of at most 64 bits");
  if (status != std::errc()) return expected(what);
  position_ += static_cast<std::size_t>(end - begin);
  return value;
}

Result<std::string_view> IrCursor::number(std::string_view what) {
  if (!is_digit(peek()) && peek() != '-') return expected(what);
  const auto digits = [&](std::size_t from) {
    while (from < text_.size() && is_digit(text_[from])) ++from;
    return from;
  };
  const std::size_t first = position_ + (text_[position_] == '-' ? 1 : 0);
  std::size_t end = digits(first);
  if (end == first) return expected(what);
  if (end < text_.size() && text_[end] == '.') end = digits(end + 1);
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    const bool has_sign =
        end + 1 < text_.size() && (text_[end + 1] == '+' || text_[end + 1] == '-');
    const std::size_t exponent = end + (has_sign ? 2 : 1);
    if (digits(exponent) != exponent) end = digits(exponent);
  }
  const std::string_view found = text_.substr(position_, end - position_);
  position_ = end;
  return found;
}

Result<std::string_view> IrCursor::string(std::string_view what) {
  if (peek() != '"') return expected(what);
  std::size_t end = position_ + 1;
  while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size()) return expected("a string that ends");
  const std::string_view found = text_.substr(position_ + 1, end - position_ - 1);
  position_ = end + 1;
  return found;
}

Result<IntList> IrCursor::integers(std::string_view what) {
  IntList list;
  RK_TRY_VOID(expect('['));
  while (!accept(']')) {
    RK_TRY(value, integer(what));
    list.push_back(value);
    if (accept(',')) continue;
    RK_TRY_VOID(expect(']', "','"));
    break;
  }
  return list;
}

// --- attributes -------------------------------------------------------------------------------

Result<bool> read_bool(IrCursor& cursor) {
  IrCursor before = cursor;
  RK_TRY(word, cursor.identifier("'true' or 'false'"));
  if (word == "true") return true;
  if (word == "false") return false;
  return before.expected("'true' or 'false'");
}

Result<DType> read_dtype(IrCursor& cursor) {
  IrCursor before = cursor;
  constexpr std::string_view choices = "'f32', 'i32' or 'i64'";
  RK_TRY(word, cursor.identifier(choices));
  for (const DType dtype : {DType::f32, DType::i32, DType::i64})
    if (word == name(dtype)) return dtype;
  if (word == "f64") return Error(Errc::invalid_dtype, before.where() + ": f64");
  return before.expected(choices);
}

namespace {

// One function for each kind of attrs.def. `what` is expected where the attribute stands.

Result<void> read_list(IrCursor& cursor, std::string_view what, OpAttributes&, IntList& list) {
  RK_TRY(read, cursor.integers(what));
  list = read;
  return {};
}

Result<void> read_flag(IrCursor& cursor, std::string_view, OpAttributes&, bool& flag) {
  RK_TRY(read, read_bool(cursor));
  flag = read;
  return {};
}

Result<void> read_count(IrCursor& cursor, std::string_view what, OpAttributes&,
                        std::int64_t& count) {
  RK_TRY(read, cursor.integer(what));
  count = read;
  return {};
}

Result<void> read_dtype(IrCursor& cursor, std::string_view, OpAttributes&, DType& dtype) {
  RK_TRY(read, ops::read_dtype(cursor));
  dtype = read;
  return {};
}

/// `[start:end:step, ...]`; a step that is not there is 1.
Result<void> read_ranges(IrCursor& cursor, std::string_view what, OpAttributes&,
                         SliceRanges& ranges) {
  RK_TRY_VOID(cursor.expect('['));
  while (!cursor.accept(']')) {
    RK_TRY(start, cursor.integer(what));
    RK_TRY_VOID(cursor.expect(':'));
    RK_TRY(end, cursor.integer("the end of a range"));
    std::int64_t step = 1;
    if (cursor.accept(':')) {
      RK_TRY(given, cursor.integer("the step of a range"));
      step = given;
    }
    ranges.starts.push_back(start);
    ranges.ends.push_back(end);
    ranges.steps.push_back(step);
    if (cursor.accept(',')) continue;
    RK_TRY_VOID(cursor.expect(']', "','"));
    break;
  }
  return {};
}

/// Behind `Custom`: `([[top, bottom], [left, right]])`.
Result<void> read_pads(IrCursor& cursor, IntList& pads) {
  RK_TRY_VOID(cursor.expect('('));
  RK_TRY_VOID(cursor.expect('['));
  while (!cursor.accept(']')) {
    RK_TRY_VOID(cursor.expect('['));
    RK_TRY(first, cursor.integer("a number of zeros"));
    RK_TRY_VOID(cursor.expect(','));
    RK_TRY(second, cursor.integer("a number of zeros"));
    RK_TRY_VOID(cursor.expect(']'));
    pads.push_back(first);
    pads.push_back(second);
    if (cursor.accept(',')) continue;
    RK_TRY_VOID(cursor.expect(']', "','"));
    break;
  }
  return cursor.expect(')');
}

/// One of `words`, by its number.
Result<std::size_t> read_word(IrCursor& cursor, std::string_view what,
                              std::span<const std::string_view> words) {
  IrCursor before = cursor;
  RK_TRY(word, cursor.identifier(what));
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) return before.expected(what);
  return static_cast<std::size_t>(found - words.begin());
}

Result<void> read_padding(IrCursor& cursor, std::string_view what, OpAttributes& attributes,
                          Padding& padding) {
  constexpr std::array<std::string_view, 3> words{"Valid", "Same", "Custom"};
  RK_TRY(word, read_word(cursor, what, words));
  padding = static_cast<Padding>(word);
  if (padding == Padding::custom) return read_pads(cursor, attributes.pads);
  return {};
}

Result<void> read_comparison(IrCursor& cursor, std::string_view what, OpAttributes&,
                             Comparison& comparison) {
  constexpr std::array<std::string_view, 4> words{"Equal", "NotEqual", "Less", "LessEqual"};
  RK_TRY(word, read_word(cursor, what, words));
  comparison = static_cast<Comparison>(word);
  return {};
}

struct Attribute {
  std::string_view kind;
  Result<void> (*read)(IrCursor& cursor, OpAttributes& attributes);
};

constexpr Attribute all_attributes[] = {
#define RK_ATTRIBUTE(kind, field, initial, text, rules)              \
  {#kind, [](IrCursor& cursor, OpAttributes& attributes) {           \
     return read_##kind(cursor, text, attributes, attributes.field); \
   }},
#include "ringkernel/protocol/attrs.def"
};

/// A bit for each attribute that the op's text has.
std::uint32_t attributes_of(Op op) noexcept {
  switch (op) {
#define RK_OP(id, name, inputs, types, attrs, rule, rereads)  \
  case Op::name: {                                            \
    constexpr std::uint32_t read = attributes_read_by(#rule); \
    return read;                                              \
  }
#include "ringkernel/protocol/ops.def"
#undef RK_OP
  }
  return 0;
}

}  // namespace

Result<OpAttributes> read_attributes(IrCursor& cursor, Op op) {
  OpAttributes attributes;
  const std::uint32_t read = attributes_of(op);
  for (std::uint32_t left = read; left != 0; left &= left - 1) {
    const Attribute& attribute = all_attributes[std::countr_zero(left)];
    if (attribute.kind == "count" && !cursor.accept(',')) continue;
    if (attribute.kind != "count" && left != read) RK_TRY_VOID(cursor.expect(','));
    RK_TRY_VOID(attribute.read(cursor, attributes));
  }
  return attributes;
}

// --- operations -------------------------------------------------------------------------------

Result<Op> read_opcode(IrCursor& cursor) {
  (void)cursor.peek();            // blanks do not belong to the place
  const IrCursor place = cursor;  // where() counts the lines before it: for errors only
  RK_TRY(name, cursor.identifier("the name of an op", true));
  const OpInfo* const info = find_op(name);
  if (info == nullptr)
    return Error(Errc::unsupported_operation,
                 place.where() + ": no op has the name '" + excerpt(name) + "'");
  return info->op;
}

Result<IrOperation> read_operation(IrCursor& cursor) {
  IrOperation operation;
  IrCursor ahead = cursor;
  const Result<std::string_view> word = ahead.identifier("the name of an op", true);
  bool separated = false;  // a comma stands before the next argument
  if (word && *word == "BinOp") {
    cursor = ahead;
    RK_TRY_VOID(cursor.expect('('));
    IrCursor before = cursor;
    RK_TRY(op, read_opcode(cursor));
    operation.op = op;
    const OpInfo* const info = find_op(static_cast<std::uint16_t>(op));
    if (info->rule != "binary")
      return before.expected("'Add', 'Sub', 'Mul', 'Div', 'Max' or 'Min'");
    RK_TRY_VOID(cursor.expect(','));
    separated = true;
  } else {
    RK_TRY(op, read_opcode(cursor));
    operation.op = op;
    RK_TRY_VOID(cursor.expect('('));
  }
  while (cursor.peek() == '%' || (separated && operation.operand_count == 0)) {
    RK_TRY(operand, cursor.value());
    if (operation.operand_count == operation.operands.size())
      return Error(Errc::arity_mismatch,
                   cursor.where() + ": more than " + std::to_string(inputs_max) + " operands");
    operation.operands[operation.operand_count++] = operand;
    separated = cursor.accept(',');
    if (!separated) break;
  }
  if (attributes_of(operation.op) != 0) {
    if (!separated && operation.operand_count != 0) return cursor.expected("','");
    RK_TRY(attributes, read_attributes(cursor, operation.op));
    operation.attributes = attributes;
  } else if (separated) {
    return cursor.expected("an operand, '%' and its name");
  }
  RK_TRY_VOID(cursor.expect(')', operation.operand_count == 0 ? "an operand" : ""));
  return operation;
}

Result<IrOperation> parse_operation(std::string_view text) {
  IrCursor cursor(text);
  RK_TRY(operation, read_operation(cursor));
  if (!cursor.at_end()) return cursor.expected("the end");
  return operation;
}

Result<OpAttributes> parse_attributes(std::string_view text, Op op) {
  IrCursor cursor(text);
  RK_TRY(attributes, read_attributes(cursor, op));
  if (!cursor.at_end()) return cursor.expected("the end");
  return attributes;
}

}  // namespace ringkernel::ops
