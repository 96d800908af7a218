#include "python/ops.hpp"

#include "python/errors.hpp"
#include "python/words.hpp"

namespace ringkernel::python {
Padding padding_from(nb::handle object) {
  static constexpr Word<Padding> rows[] = {
      {"valid", Padding::valid}, {"same", Padding::same}, {"custom", Padding::custom}};
  return look_up(rows, object, "padding");
}

Comparison comparison_from(nb::handle object) {
  static constexpr Word<Comparison> rows[] = {{"==", Comparison::equal},
                                              {"!=", Comparison::not_equal},
                                              {"<", Comparison::less},
                                              {"<=", Comparison::less_equal}};
  return look_up(rows, object, "comparison");
}

Op op_from(std::string_view name) {
  if (const OpInfo* const info = find_op(name)) return info->op;
  std::string known;
  for (const OpInfo& info : op_table()) known += " " + std::string(info.name);
  raise(
      Error(Errc::unsupported_operation, "no op '" + std::string(name) + "'. There are:" + known));
}

namespace {

// One function for each type of attribute: its value, if `word` is its name.

bool take(const std::string& word, nb::handle value, std::string_view name, IntList& list) {
  if (word == name) list = ints_from(value);
  return word == name;
}

template <class Number>
requires std::is_arithmetic_v<Number>
bool take(const std::string& word, nb::handle value, std::string_view name, Number& number) {
  if (word == name) number = word_as<Number>(word, value);
  return word == name;
}

bool take(const std::string& word, nb::handle value, std::string_view name, Padding& padding) {
  if (word == name) padding = padding_from(value);
  return word == name;
}

bool take(const std::string& word, nb::handle value, std::string_view name,
          Comparison& comparison) {
  if (word == name) comparison = comparison_from(value);
  return word == name;
}

bool take(const std::string& word, nb::handle value, std::string_view name, DType& dtype) {
  if (word == name) dtype = dtype_from(value);
  return word == name;
}

/// Each list by its own name.
bool take(const std::string& word, nb::handle value, std::string_view, SliceRanges& ranges) {
  return take(word, value, "starts", ranges.starts) || take(word, value, "ends", ranges.ends) ||
         take(word, value, "steps", ranges.steps);
}

}  // namespace

OpAttributes attributes_from(Op op, const nb::dict& words) {
  OpAttributes attributes;
  if (op == Op::softmax) attributes.axes = {-1};
  if (op == Op::concat) attributes.axes = {0};
  if (op == Op::conv2d || op == Op::max_pool) attributes.strides = {1, 1};
  for (const auto [key, value] : words) {
    const auto word = nb::cast<std::string>(key);
    const bool is_known = take(word, value, "axis", attributes.axes)
#define RK_ATTRIBUTE(kind, field, initial, text, rules) \
  || take(word, value, #field, attributes.field)
#include "ringkernel/protocol/attrs.def"
        ;
    if (!is_known) raise_type_error("no op has an attribute '" + word + "'");
  }
  return attributes;
}

}  // namespace ringkernel::python
