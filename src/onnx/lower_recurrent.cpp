// Networks with a state between their steps.
#include <algorithm>
#include <optional>

#include "onnx/rules.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel::onnx {
namespace {

/// Gates in the order of ONNX.
enum Gate : std::int64_t { in, out, forget, cell, gates };

/// A known matrix [1, rows, columns] turned, or rows of a known list [1, n], as a constant.
Result<Graph::Value> turned(const Operation& operation, std::size_t position) {
  if (!operation.has(position) || !operation.value(position).is_known())
    return operation.refusal("weights that are not known");
  Tensor tensor = *operation.value(position).known;
  if (tensor.type != ElementType::f32 || tensor.is_external || tensor.dims.size() != 3 ||
      tensor.dims[0] != 1)
    return operation.refusal("weights of another type or shape");
  tensor.dims.erase(tensor.dims.begin());
  return operation.constant(transposed(tensor, {1, 0}));
}

/// [1, batch, hidden] as [batch, hidden]; zeros where it is not given.
Result<Graph::Value> state(const Operation& operation, std::size_t position, std::int64_t batch,
                           std::int64_t hidden) {
  if (!operation.has(position)) {
    constexpr float zero = 0;
    return operation.add(ops::fill({{DType::f32, {}}, &zero}, {batch, hidden}));
  }
  RK_TRY(given, operation.operand(position));
  return operation.add(ops::reshape(given, {batch, hidden}));
}

/// More steps would be more commands than a graph has.
constexpr std::int64_t steps_max = 128;

/// What is there in each step of a long short-term memory.
struct Lstm {
  Graph::Value recurrent;  // weights
  std::optional<Graph::Value> bias;
  std::int64_t batch;
  std::int64_t hidden;
};

/// c' = f c + i g, h' = o tanh(c'). `from_input`: what the input adds to the gates' sums.
Result<void> step(const Operation& operation, const Lstm& lstm, const Graph::Value& from_input,
                  Graph::Value& h, Graph::Value& c) {
  RK_TRY(from_state, operation.add(ops::matmul(h, lstm.recurrent)));
  RK_TRY(both, operation.add(ops::add(from_input, from_state)));
  Graph::Value sums = both;
  if (lstm.bias) {
    RK_TRY(biased, operation.add(ops::add(sums, *lstm.bias)));
    sums = biased;
  }
  const auto gate = [&](Gate which) {
    return operation.add(ops::slice(
        sums, {{0, which * lstm.hidden}, {lstm.batch, (which + 1) * lstm.hidden}, {1, 1}}));
  };
  RK_TRY(in_sum, gate(in));
  RK_TRY(out_sum, gate(out));
  RK_TRY(forget_sum, gate(forget));
  RK_TRY(cell_sum, gate(cell));
  RK_TRY(i, sigmoid(operation, in_sum));
  RK_TRY(o, sigmoid(operation, out_sum));
  RK_TRY(f, sigmoid(operation, forget_sum));
  RK_TRY(g, operation.add(ops::tanh(cell_sum)));
  RK_TRY(kept, operation.add(ops::mul(f, c)));
  RK_TRY(added, operation.add(ops::mul(i, g)));
  RK_TRY(next_c, operation.add(ops::add(kept, added)));
  RK_TRY(curve, operation.add(ops::tanh(next_c)));
  RK_TRY(next_h, operation.add(ops::mul(o, curve)));
  h = next_h;
  c = next_c;
  return {};
}

}  // namespace

/// Steps of a long short-term memory, one after the other.
Result<Results> lower_lstm(const Operation& operation) {
  const Node& node = operation.node();
  const std::vector<std::string> usual{"Sigmoid", "Tanh", "Tanh"};
  const Attribute* const activations = node.find("activations");
  if (node.text("direction", "forward") != "forward" ||
      (activations != nullptr && activations->texts != usual) || node.find("clip") != nullptr ||
      node.integer("input_forget", 0) != 0 || node.integer("layout", 0) != 0 || operation.has(4) ||
      operation.has(7))
    return operation.refusal("another direction, activation, clip or layout, lengths or peepholes");
  if (operation.rank(0) != 3) return operation.refusal("no sequence");
  RK_TRY(x, operation.operand(0));
  RK_TRY(weights, turned(operation, 1));
  RK_TRY(recurrent, turned(operation, 2));
  const Integers dims = operation.dims(0);
  const std::int64_t steps = dims[0];
  Lstm lstm{recurrent, {}, dims[1], recurrent.desc().shape[0]};
  if (steps > steps_max)
    return operation.refusal("of " + std::to_string(steps) + " steps; " +
                             std::to_string(steps_max) + " are read");
  if (operation.has(3)) {
    RK_TRY(both, operation.operand(3));  // of the input and of the state, side by side
    RK_TRY(rows, operation.add(ops::reshape(both, {2, gates * lstm.hidden})));
    RK_TRY(summed, operation.add(ops::sum(rows, {0})));
    lstm.bias = summed;
  }
  RK_TRY(h, state(operation, 5, lstm.batch, lstm.hidden));
  RK_TRY(c, state(operation, 6, lstm.batch, lstm.hidden));
  RK_TRY(rows, operation.add(ops::reshape(x, {steps * lstm.batch, dims[2]})));
  RK_TRY(from_inputs, operation.add(ops::matmul(rows, weights)));
  std::vector<Graph::Value> outputs;
  for (std::int64_t number = 0; number < steps; ++number) {
    Graph::Value from_input = from_inputs;
    if (steps > 1) {
      RK_TRY(part, operation.add(
                       ops::slice(from_inputs, {{number * lstm.batch, 0},
                                                {(number + 1) * lstm.batch, gates * lstm.hidden},
                                                {1, 1}})));
      from_input = part;
    }
    RK_TRY_VOID(step(operation, lstm, from_input, h, c));
    outputs.push_back(h);
  }
  RK_TRY(all, joined(operation, std::move(outputs), 0));
  RK_TRY(y, operation.add(ops::reshape(all, {steps, 1, lstm.batch, lstm.hidden})));
  RK_TRY(y_h, operation.add(ops::reshape(h, {1, lstm.batch, lstm.hidden})));
  RK_TRY(y_c, operation.add(ops::reshape(c, {1, lstm.batch, lstm.hidden})));
  return Results{y, y_h, y_c};
}

}  // namespace ringkernel::onnx
