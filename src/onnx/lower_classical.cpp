// Ops of the domain ai.onnx.ml, which are those of scikit-learn: scaling, linear models, and how a
// classifier finds the label of what it has chosen.
#include <array>

#include "onnx/rules.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel::onnx {
namespace {

/// The operand as f32.
Result<Graph::Value> floats_of(const Operation& operation) {
  RK_TRY(x, operation.operand(0));
  if (x.desc().dtype == DType::f32) return x;
  return operation.add(ops::cast(x, DType::f32));
}

/// The numbers of an attribute as a row, one for each of `columns`, or one for all; a missing one
/// is nothing.
Result<std::optional<Graph::Value>> row_of(const Operation& operation, std::string_view name,
                                           std::size_t columns) {
  const Attribute* const attribute = operation.node().find(name);
  if (attribute == nullptr || attribute->numbers.empty()) return std::optional<Graph::Value>();
  if (attribute->numbers.size() != 1 && attribute->numbers.size() != columns)
    return operation.refusal("'" + std::string(name) + "' that is not one number for each column");
  RK_TRY(row, operation.constant(TensorView(attribute->numbers)));
  return std::optional(row);
}

/// x W^T + b for `outputs` rows of coefficients.
Result<Graph::Value> linear(const Operation& operation, std::size_t outputs) {
  const Attribute* const coefficients = operation.node().find("coefficients");
  RK_TRY(x, floats_of(operation));
  const std::size_t count = coefficients == nullptr ? 0 : coefficients->numbers.size();
  if (operation.rank(0) != 2 || outputs == 0 || count % outputs != 0 ||
      count / outputs != static_cast<std::size_t>(operation.dims(0)[1]))
    return operation.refusal("coefficients that are not one for each feature and output");
  std::vector<float> turned(count);
  for (std::size_t i = 0; i < count; ++i)
    turned[i] = coefficients->numbers[i % outputs * (count / outputs) + i / outputs];
  const std::array dims{static_cast<std::int64_t>(count / outputs),
                        static_cast<std::int64_t>(outputs)};
  RK_TRY(shape, Shape::make(dims));
  RK_TRY(weights, operation.constant({shape, turned}));
  RK_TRY(sums, operation.add(ops::matmul(x, weights)));
  RK_TRY(intercepts, row_of(operation, "intercepts", outputs));
  if (!intercepts) return sums;
  return operation.add(ops::add(sums, *intercepts));
}

}  // namespace

Result<Graph::Value> lower_scaler(const Operation& operation) {
  RK_TRY(x, floats_of(operation));
  const std::size_t columns =
      operation.rank(0) == 0 ? 1 : static_cast<std::size_t>(operation.dims(0).back());
  RK_TRY(offset, row_of(operation, "offset", columns));
  RK_TRY(scale, row_of(operation, "scale", columns));
  if (offset) {
    RK_TRY(moved, operation.add(ops::sub(x, *offset)));
    x = moved;
  }
  if (!scale) return x;
  return operation.add(ops::mul(x, *scale));
}

namespace {

/// Of the rows. The largest element is that with its sign, as ONNX has it.
Result<Graph::Value> norms_of(const Operation& operation, const Graph::Value& x,
                              std::string_view norm) {
  if (norm == "MAX") return operation.add(ops::reduce_max(x, {1}, true));
  RK_TRY(weights, norm == "L2" ? operation.add(ops::mul(x, x)) : magnitude(operation, x));
  RK_TRY(sums, operation.add(ops::sum(weights, {1}, true)));
  if (norm == "L1") return sums;
  return operation.add(ops::sqrt(sums));
}

}  // namespace

/// Rows divided by their norm; rows whose norm is 0 stay as they are.
Result<Graph::Value> lower_normalizer(const Operation& operation) {
  const std::string norm = operation.node().text("norm", "MAX");
  if (operation.rank(0) != 2) return operation.refusal("of an operand that is no matrix");
  if (norm != "L1" && norm != "L2" && norm != "MAX")
    return operation.refusal("norm '" + norm + "'; L1, L2 and MAX are read");
  RK_TRY(x, floats_of(operation));
  RK_TRY(norms, norms_of(operation, x, norm));
  constexpr float zero = 0, one = 1;
  const TensorView ones({DType::f32, {}}, &one);
  RK_TRY(is_zero, operation.add(ops::compare(norms, {{DType::f32, {}}, &zero}, Comparison::equal)));
  RK_TRY(divisors, operation.add(ops::select(is_zero, ones, norms)));
  return operation.add(ops::div(x, divisors));
}

/// 1 above the threshold, else 0.
Result<Graph::Value> lower_binarizer(const Operation& operation) {
  RK_TRY(x, floats_of(operation));
  const float threshold = operation.node().number("threshold", 0);
  RK_TRY(is_above,
         operation.add(ops::compare({{DType::f32, {}}, &threshold}, x, Comparison::less)));
  return operation.add(ops::cast(is_above, DType::f32));
}

Result<Graph::Value> lower_linear_regressor(const Operation& operation) {
  if (operation.node().text("post_transform", "NONE") != "NONE")
    return operation.refusal("a post_transform; NONE is read");
  return linear(operation, static_cast<std::size_t>(operation.node().integer("targets", 1)));
}

/// The label of the largest score, and all scores. Labels of text are not given.
Result<Results> lower_linear_classifier(const Operation& operation) {
  const Node& node = operation.node();
  const Attribute* const numbers = node.find("classlabels_ints");
  const Attribute* const texts = node.find("classlabels_strings");
  const std::size_t classes = numbers != nullptr && !numbers->integers.empty()
                                  ? numbers->integers.size()
                              : texts != nullptr ? texts->texts.size()
                                                 : 0;
  RK_TRY(scores, linear(operation, classes));
  const std::string transform = node.text("post_transform", "NONE");
  RK_TRY(chosen, position_of_largest(operation, scores, 1, false));
  Graph::Value result = scores;
  if (transform == "LOGISTIC") {
    RK_TRY(probabilities, sigmoid(operation, scores));
    result = probabilities;
  } else if (transform == "SOFTMAX") {
    RK_TRY(probabilities, operation.add(ops::softmax(scores, {1})));
    result = probabilities;
  } else if (transform != "NONE") {
    return operation.refusal("post_transform '" + transform +
                             "'; NONE, LOGISTIC and SOFTMAX are read");
  }
  Value label;
  if (numbers != nullptr && !numbers->integers.empty()) {
    RK_TRY(labels, operation.constant(TensorView(numbers->integers)));
    RK_TRY(found, operation.add(ops::gather(labels, chosen)));
    label = found;
  }
  return Results{label, result};
}

/// Columns in the order of the indices; of a list one row.
Result<Graph::Value> lower_feature_extractor(const Operation& operation) {
  if (operation.rank(0) == 0) return operation.refusal("of a scalar");
  if (operation.rank(0) == 1) {
    RK_TRY(list, operation.operand(0));
    RK_TRY(indices, operation.operand(1));
    RK_TRY(in_a_row, operation.add(ops::reshape(indices, {1, -1})));
    return operation.add(ops::gather(list, in_a_row));
  }
  const std::int64_t axis = operation.rank(0) - 1;
  RK_TRY(indices, operation.integers(1));
  for (const std::int64_t index : indices)
    if (index < 0 || index >= operation.dims(0).back())
      return operation.refusal("an index out of range");
  RK_TRY(x, operation.operand(0));
  return taken(operation, x, axis, indices);
}

}  // namespace ringkernel::onnx
