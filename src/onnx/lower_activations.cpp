// What networks bend their values with: activations, softmax, normalisations. Most are composed of
// several ops; where `compile` finds them in a row they run as one chain.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "onnx/rules.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel::onnx {
namespace {

/// Ops on one value after the other; the first error stays.
class Formula {
 public:
  explicit Formula(const Operation& operation) : operation_(operation) {}

  [[nodiscard]] Graph::Value add(const Graph::Value& a, const Graph::Value& b) {
    return take(ops::add(a, b), a);
  }
  [[nodiscard]] Graph::Value sub(const Graph::Value& a, const Graph::Value& b) {
    return take(ops::sub(a, b), a);
  }
  [[nodiscard]] Graph::Value mul(const Graph::Value& a, const Graph::Value& b) {
    return take(ops::mul(a, b), a);
  }
  [[nodiscard]] Graph::Value div(const Graph::Value& a, const Graph::Value& b) {
    return take(ops::div(a, b), a);
  }
  [[nodiscard]] Graph::Value add(const Graph::Value& a, float b) {
    return take(ops::add(a, scalar(b)), a);
  }
  [[nodiscard]] Graph::Value mul(const Graph::Value& a, float b) {
    return take(ops::mul(a, scalar(b)), a);
  }
  [[nodiscard]] Graph::Value max(const Graph::Value& a, float b) {
    return take(ops::max(a, scalar(b)), a);
  }
  [[nodiscard]] Graph::Value min(const Graph::Value& a, float b) {
    return take(ops::min(a, scalar(b)), a);
  }
  /// b / a.
  [[nodiscard]] Graph::Value over(float b, const Graph::Value& a) {
    return take(ops::div(scalar(b), a), a);
  }
  /// build(a).
  [[nodiscard]] Graph::Value of(Request (*build)(const TensorView&) noexcept,
                                const Graph::Value& a) {
    return take(build(a), a);
  }
  [[nodiscard]] Graph::Value over_axes(Request (*build)(const TensorView&, IntList, bool) noexcept,
                                       const Graph::Value& a, const Integers& axes) {
    return take(build(a, IntList(axes), true), a);
  }

  /// The last one, if none has failed.
  [[nodiscard]] Result<Graph::Value> result(const Graph::Value& value) const {
    if (error_) return *error_;
    return value;
  }

 private:
  TensorView scalar(float number) {
    number_ = number;
    return {{DType::f32, {}}, &number_};
  }
  /// What the op gives, or `otherwise`, which nobody asks for any more.
  Graph::Value take(const Request& request, const Graph::Value& otherwise) {
    if (error_) return otherwise;
    Result<Graph::Value> made = operation_.add(request);
    if (made) return *made;
    error_ = std::move(made).error();
    return otherwise;
  }

  const Operation& operation_;
  float number_ = 0;  // the graph copies it
  std::optional<Error> error_;
};

/// What a formula makes of the operand, element by element.
template <class Compose>
Result<Value> composed(const Operation& operation, Compose compose) {
  RK_TRY(given, alike(operation, 1));
  Formula formula(operation);
  RK_TRY(y, formula.result(compose(formula, given.operands[0])));
  return given.as_they(y);
}

/// 1 / (1 + exp(-x)): 0 and 1 at the infinities.
Graph::Value logistic(Formula& formula, const Graph::Value& x) {
  const Graph::Value power = formula.of(ops::exp, formula.of(ops::neg, x));
  return formula.over(1, formula.add(power, 1));
}

/// max(0, x).
Graph::Value positive_part(Formula& formula, const Graph::Value& x) { return formula.max(x, 0); }

/// log(1 + exp(x)), which no large x makes infinite.
Graph::Value softplus(Formula& formula, const Graph::Value& x) {
  const Graph::Value positive = positive_part(formula, x);
  const Graph::Value power = formula.of(ops::exp, formula.sub(formula.min(x, 0), positive));
  return formula.add(positive, formula.of(ops::log, formula.add(power, 1)));
}

/// Those from `axis` to the last.
std::optional<Integers> axes_from(std::int64_t axis, std::int64_t rank) {
  const auto first = axis_of(axis, rank);
  if (!first) return std::nullopt;
  Integers axes(static_cast<std::size_t>(rank - *first));
  std::iota(axes.begin(), axes.end(), *first);
  return axes;
}

/// The axes that softmax is about: one; in older operator sets all from it on.
Result<Integers> softmax_axes(const Operation& operation) {
  const bool is_older = operation.version() < 13;
  const std::int64_t axis = operation.node().integer("axis", is_older ? 1 : -1);
  std::optional<Integers> axes = axes_from(axis, operation.rank(0));
  if (!axes) return operation.refusal("no such axis");
  if (!is_older) axes->resize(1);
  return *axes;
}

}  // namespace

Result<Value> lower_reciprocal(const Operation& operation) {
  return composed(operation,
                  [](Formula& formula, const Graph::Value& x) { return formula.over(1, x); });
}

/// Squares, roots and so on, as exporters write them.
Result<Value> lower_pow(const Operation& operation) {
  float power = 0;
  if (const Value& given = operation.value(1); given.is_known() && !given.known->is_external &&
                                               given.known->element_count() == 1 &&
                                               given.dims().size() <= operation.dims(0).size()) {
    if (given.known->type == ElementType::f32)
      std::memcpy(&power, given.known->bytes.data(), sizeof power);
    else if (const Integers number = given.known->integers(); !number.empty())
      power = static_cast<float>(number[0]);
  }
  const bool is_inverse = power == -1 || power == -0.5f;
  const float magnitude = is_inverse ? -power : power;
  constexpr std::array products{1.0f, 2.0f, 3.0f, 4.0f};
  if (magnitude != 0.5f && std::ranges::find(products, magnitude) == products.end())
    return operation.refusal("a power that is not 1, 2, 3, 4, 0.5, -0.5 or -1");
  return composed(operation, [&](Formula& formula, const Graph::Value& x) {
    Graph::Value result = magnitude == 0.5f ? formula.of(ops::sqrt, x) : x;
    for (int n = 1; n < static_cast<int>(magnitude); ++n) result = formula.mul(result, x);
    return is_inverse ? formula.over(1, result) : result;
  });
}

Result<Value> lower_sigmoid(const Operation& operation) { return composed(operation, logistic); }

Result<Graph::Value> sigmoid(const Operation& operation, const Graph::Value& x) {
  Formula formula(operation);
  return formula.result(logistic(formula, x));
}

Result<Graph::Value> lower_softmax(const Operation& operation) {
  RK_TRY(axes, softmax_axes(operation));
  RK_TRY(x, operation.operand(0));
  return operation.add(ops::softmax(x, IntList(axes)));
}

Result<Graph::Value> lower_log_softmax(const Operation& operation) {
  RK_TRY(axes, softmax_axes(operation));
  RK_TRY(x, operation.operand(0));
  Formula formula(operation);
  const Graph::Value distances = formula.sub(x, formula.over_axes(ops::reduce_max, x, axes));
  const Graph::Value sums = formula.over_axes(ops::sum, formula.of(ops::exp, distances), axes);
  return formula.result(formula.sub(distances, formula.of(ops::log, sums)));
}

Result<Graph::Value> magnitude(const Operation& operation, const Graph::Value& x) {
  constexpr std::int64_t zero = 0;  // of any type
  RK_TRY(negative, operation.add(ops::sub({{x.desc().dtype, {}}, &zero}, x)));
  return operation.add(ops::max(x, negative));
}

Result<Value> lower_abs(const Operation& operation) {
  RK_TRY(given, alike(operation, 1));
  RK_TRY(y, magnitude(operation, given.operands[0]));
  return given.as_they(y);
}

Result<Value> lower_leaky_relu(const Operation& operation) {
  const float slope = operation.node().number("alpha", 0.01f);
  return composed(operation, [&](Formula& formula, const Graph::Value& x) {
    return formula.add(positive_part(formula, x), formula.mul(formula.min(x, 0), slope));
  });
}

Result<Value> lower_prelu(const Operation& operation) {
  RK_TRY(given, alike(operation, 2));
  Formula formula(operation);
  const Graph::Value& x = given.operands[0];
  RK_TRY(y, formula.result(formula.add(positive_part(formula, x),
                                       formula.mul(formula.min(x, 0), given.operands[1]))));
  return given.as_they(y);
}

Result<Value> lower_elu(const Operation& operation) {
  const float alpha = operation.node().number("alpha", 1);
  return composed(operation, [&](Formula& formula, const Graph::Value& x) {
    const Graph::Value power = formula.of(ops::exp, formula.min(x, 0));
    return formula.add(positive_part(formula, x), formula.mul(formula.add(power, -1), alpha));
  });
}

Result<Value> lower_hard_sigmoid(const Operation& operation) {
  const float alpha = operation.node().number("alpha", 0.2f);
  const float beta = operation.node().number("beta", 0.5f);
  return composed(operation, [&](Formula& formula, const Graph::Value& x) {
    return formula.min(formula.max(formula.add(formula.mul(x, alpha), beta), 0), 1);
  });
}

/// x times the hard sigmoid of slope 1/6.
Result<Value> lower_hard_swish(const Operation& operation) {
  return composed(operation, [](Formula& formula, const Graph::Value& x) {
    constexpr float sixth = 1.0f / 6;
    const Graph::Value gate =
        formula.min(formula.max(formula.add(formula.mul(x, sixth), 0.5f), 0), 1);
    return formula.mul(x, gate);
  });
}

/// x times how much of a normal distribution lies below it; or that, roughly, by tanh.
Result<Value> lower_gelu(const Operation& operation) {
  const bool is_rough = operation.node().text("approximate", "none") == "tanh";
  return composed(operation, [&](Formula& formula, const Graph::Value& x) {
    constexpr float root_of_half = 0.70710678f, root_of_two_by_pi = 0.79788456f, cubic = 0.044715f;
    Graph::Value curve = x;
    if (is_rough) {
      const Graph::Value cube = formula.mul(formula.mul(x, x), x);
      curve = formula.add(x, formula.mul(cube, cubic));
      curve = formula.of(ops::tanh, formula.mul(curve, root_of_two_by_pi));
    } else {
      curve = formula.of(ops::erf, formula.mul(x, root_of_half));
    }
    return formula.mul(formula.mul(x, 0.5f), formula.add(curve, 1));
  });
}

/// Nothing drops out where nothing is learned.
Result<Graph::Value> lower_dropout(const Operation& operation) {
  if (operation.has(2)) {
    const Value& trains = operation.value(2);
    if (!trains.is_known() || trains.known->integers() != Integers{0})
      return operation.refusal("in training mode");
  }
  return operation.operand(0);
}

Result<Value> lower_softplus(const Operation& operation) { return composed(operation, softplus); }

/// (x - mean) / sqrt(variance + epsilon), scaled and shifted, over all axes from the named one on;
/// also the mean, and one over that root.
Result<Results> lower_layer_normalization(const Operation& operation) {
  const auto axes = axes_from(operation.node().integer("axis", -1), operation.rank(0));
  if (!axes) return operation.refusal("no such axis");
  RK_TRY(x, operation.operand(0));
  RK_TRY(scale, operation.operand(1));
  Formula formula(operation);
  const Graph::Value mean = formula.over_axes(ops::mean, x, *axes);
  const Graph::Value distances = formula.sub(x, mean);
  const Graph::Value variances =
      formula.over_axes(ops::mean, formula.mul(distances, distances), *axes);
  const float epsilon = operation.node().number("epsilon", 1e-5f);
  const Graph::Value deviations = formula.of(ops::sqrt, formula.add(variances, epsilon));
  Graph::Value normal = formula.mul(formula.div(distances, deviations), scale);
  if (operation.has(2)) {
    RK_TRY(shift, operation.operand(2));
    normal = formula.add(normal, shift);
  }
  const Graph::Value inverse = formula.over(1, deviations);
  RK_TRY_VOID(formula.result(inverse));
  return Results{normal, mean, inverse};
}

/// Of known numbers, as trained: one factor and one summand for each channel.
Result<Value> lower_batch_normalization(const Operation& operation) {
  if (operation.node().integer("training_mode", 0) != 0)
    return operation.refusal("in training mode");
  if (operation.rank(0) < 2) return operation.refusal("of an operand without channels");
  const auto channels = static_cast<std::size_t>(operation.dims(0)[1]);
  std::array<std::vector<float>, 4> known;  // scale, shift, mean, variance
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::string what = "operand " + std::to_string(i + 1);
    if (!operation.value(i + 1).is_known())
      return operation.refusal(what + " has to be known when it is read");
    const Tensor& tensor = *operation.value(i + 1).known;
    if (tensor.type != ElementType::f32 || tensor.is_external || tensor.element_count() != channels)
      return operation.refusal(what + " is not one f32 for each channel");
    known[i].resize(channels);
    std::memcpy(known[i].data(), tensor.bytes.data(), channels * sizeof(float));
  }
  const auto& [scale, shift, mean, variance] = known;
  const double epsilon = operation.node().number("epsilon", 1e-5f);
  std::vector<float> factors(channels);
  std::vector<float> summands(channels);
  for (std::size_t i = 0; i < channels; ++i) {
    const double factor = scale[i] / std::sqrt(variance[i] + epsilon);
    factors[i] = static_cast<float>(factor);
    summands[i] = static_cast<float>(shift[i] - mean[i] * factor);
  }
  RK_TRY(given, alike(operation, 1));
  Integers dims{operation.dims(0)[1]};
  if (!given.is_channels_last) dims.resize(static_cast<std::size_t>(operation.rank(0)) - 1, 1);
  RK_TRY(shape, Shape::make(dims));
  RK_TRY(factor, operation.constant({shape, factors}));
  RK_TRY(summand, operation.constant({shape, summands}));
  Formula formula(operation);
  RK_TRY(y, formula.result(formula.add(formula.mul(given.operands[0], factor), summand)));
  return given.as_they(y);
}

}  // namespace ringkernel::onnx
