/// Networks of ONNX, written for a test node by node, and run.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Ownership: a network borrows the elements of its inputs.
/// Errors: those of `onnx::read`, `compile` and `execute`.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "ringkernel/onnx.hpp"
#include "ringkernel/ringkernel.hpp"
#include "unit/onnx/file_writer.hpp"

namespace ringkernel::onnx::test {

/// A value: its name in the network, and what it is.
struct Known {
  std::string name;
  std::vector<std::int64_t> dims;
  std::vector<float> elements;
};

inline std::vector<float> any_floats(std::size_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> range(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = range(random);
  return values;
}

inline Message attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  Message message = Message().text(1, name);
  for (const std::int64_t value : values) message.number(8, static_cast<std::uint64_t>(value));
  return message.number(20, 7);
}

inline Message tensor(const Known& known) {
  Message message;
  for (const std::int64_t dim : known.dims) message.number(1, static_cast<std::uint64_t>(dim));
  return message.number(2, 1)
      .text(8, known.name)
      .bytes(9, std::as_bytes(std::span(known.elements)));
}

inline Message info(const Known& known) {
  Message shape;
  for (const std::int64_t dim : known.dims)
    shape.message(1, Message().number(1, static_cast<std::uint64_t>(dim)));
  return Message()
      .text(1, known.name)
      .message(2, Message().message(1, Message().number(1, 1).message(2, shape)));
}

/// A node with the tensors that belong to it.
struct Part {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<Message> attributes;
  std::vector<Message> tensors;
};

/// Writes parts into one file and runs it.
class Network {
 public:
  void add(const Part& part, const std::string& output) {
    Message made;
    for (const std::string& input : part.inputs) made.text(1, input);
    made.text(2, output).text(3, output).text(4, part.op);
    for (const Message& given : part.attributes) made.message(5, given);
    graph_.message(1, made);
    for (const Message& held : part.tensors) graph_.message(5, held);
  }
  void input(const Known& known) {
    graph_.message(11, info(known));
    inputs_.push_back({{DType::f32, Shape::make(known.dims).value()}, known.elements.data()});
  }
  void output(const std::string& name) { graph_.message(12, Message().text(1, name)); }

  Result<FunctionResult> run(RingKernelRuntime& runtime) const {
    RK_TRY(graph, read(file(graph_), {.name = "network"}));
    RK_TRY(function, runtime.compile(graph));
    return function.execute(inputs_);
  }

 private:
  Message graph_;
  std::vector<TensorView> inputs_;
};

}  // namespace ringkernel::onnx::test
