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

OpAttributes attributes_from(Op op, const nb::dict& words) {
  OpAttributes attributes;
  if (op == Op::softmax) attributes.axes = {-1};
  if (op == Op::concat) attributes.axes = {0};
  if (op == Op::conv2d || op == Op::max_pool) attributes.strides = {1, 1};
  const Word<IntList*> lists[] = {
      {"axes", &attributes.axes},       {"axis", &attributes.axes},
      {"shape", &attributes.shape},     {"permutation", &attributes.permutation},
      {"indices", &attributes.indices}, {"starts", &attributes.slice.starts},
      {"ends", &attributes.slice.ends}, {"steps", &attributes.slice.steps},
      {"window", &attributes.window},   {"strides", &attributes.strides},
      {"pads", &attributes.pads}};
  for (const auto [key, value] : words) {
    const auto word = nb::cast<std::string>(key);
    const auto* const list = std::find_if(std::begin(lists), std::end(lists),
                                          [&](const auto& row) { return row.word == word; });
    if (list != std::end(lists))
      *list->value = ints_from(value);
    else if (word == "keepdims")
      attributes.keepdims = word_as<bool>(word, value);
    else if (word == "padding")
      attributes.padding = padding_from(value);
    else if (word == "groups")
      attributes.groups = word_as<std::int64_t>(word, value);
    else if (word == "comparison")
      attributes.comparison = comparison_from(value);
    else if (word == "dtype")
      attributes.dtype = dtype_from(value);
    else
      raise_type_error("no op has an attribute '" + word + "'");
  }
  return attributes;
}

}  // namespace ringkernel::python
