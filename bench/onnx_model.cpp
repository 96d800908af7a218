#include "onnx_model.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

using Dims = std::vector<std::int64_t>;

/// A message of Protocol Buffers, written field by field.
class Proto {
 public:
  Proto& number(std::uint32_t field, std::int64_t value) {
    varint(field << 3);  // wire type 0
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Proto& bytes(std::uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  Proto& message(std::uint32_t field, const Proto& value) { return bytes(field, value.text_); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

// What onnx.proto calls them: fields, and types of elements and of attributes.
namespace model_proto {
constexpr std::uint32_t ir_version = 1, graph = 7, opset_import = 8;
}
namespace opset_proto {
constexpr std::uint32_t domain = 1, version = 2;
}
namespace graph_proto {
constexpr std::uint32_t node = 1, name = 2, initializer = 5, input = 11, output = 12;
}
namespace node_proto {
constexpr std::uint32_t input = 1, output = 2, op_type = 4, attribute = 5;
}
namespace attribute_proto {
constexpr std::uint32_t name = 1, ints = 8, type = 20;
constexpr std::int64_t type_ints = 7;
}  // namespace attribute_proto
namespace tensor_proto {
constexpr std::uint32_t dims = 1, data_type = 2, name = 8, raw_data = 9;
}
namespace value_proto {
constexpr std::uint32_t name = 1, type = 2;
constexpr std::uint32_t tensor_type = 1, element_type = 1, shape = 2, dim = 1, dim_value = 1;
}  // namespace value_proto
constexpr std::int64_t element_f32 = 1, version_of_ir = 8, version_of_opset = 17;

Proto value_info(std::string_view name, const Dims& dims) {
  Proto shape;
  for (const std::int64_t extent : dims)
    shape.message(value_proto::dim, Proto().number(value_proto::dim_value, extent));
  const Proto tensor =
      Proto().number(value_proto::element_type, element_f32).message(value_proto::shape, shape);
  return Proto()
      .bytes(value_proto::name, name)
      .message(value_proto::type, Proto().message(value_proto::tensor_type, tensor));
}

Proto initializer(std::string_view name, const Dims& dims, const std::vector<float>& values) {
  Proto tensor;
  for (const std::int64_t extent : dims) tensor.number(tensor_proto::dims, extent);
  return tensor.number(tensor_proto::data_type, element_f32)
      .bytes(tensor_proto::name, name)
      .bytes(tensor_proto::raw_data,
             {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

Proto node(std::string_view op, std::initializer_list<std::string_view> inputs,
           std::string_view output) {
  Proto made;
  for (const std::string_view input : inputs)
    if (!input.empty()) made.bytes(node_proto::input, input);
  return made.bytes(node_proto::output, output).bytes(node_proto::op_type, op);
}

Proto attribute(std::string_view name, const Dims& values) {
  Proto made;
  made.bytes(attribute_proto::name, name).number(attribute_proto::type, attribute_proto::type_ints);
  for (const std::int64_t value : values) made.number(attribute_proto::ints, value);
  return made;
}

/// [3][3][inputs][outputs] as [outputs][inputs][3][3].
std::vector<float> oihw(const Layer& layer) {
  std::vector<float> filter;
  for (std::size_t o = 0; o < layer.outputs; ++o)
    for (std::size_t i = 0; i < layer.inputs; ++i)
      for (std::size_t tap = 0; tap < 9; ++tap)
        filter.push_back(layer.weights[(tap * layer.inputs + i) * layer.outputs + o]);
  return filter;
}

/// The weights of what comes behind a convolution, whose flat result begins with the channel.
std::vector<float> by_channel(const Layer& layer, std::size_t channels) {
  const std::size_t places = layer.inputs / channels;
  std::vector<float> weights;
  for (std::size_t channel = 0; channel < channels; ++channel)
    for (std::size_t place = 0; place < places; ++place)
      for (std::size_t o = 0; o < layer.outputs; ++o)
        weights.push_back(layer.weights[(place * channels + channel) * layer.outputs + o]);
  return weights;
}

class GraphWriter {
 public:
  explicit GraphWriter(const Work& work) {
    graph_.bytes(graph_proto::name, "chosen");
    for (std::size_t i = 0; i < work.inputs.size(); ++i)
      graph_.message(graph_proto::input,
                     value_info("x" + std::to_string(i), onnx_input_shape(work)));
    if (work.is_sum()) add("Add", {"x0", "x1"});
    for (std::size_t i = 0; i < work.layers.size(); ++i)
      add_layer(work.layers[i], i == 0 ? nullptr : &work.layers[i - 1]);
    graph_.message(graph_proto::output, value_info(value_, onnx_output_shape(work)));
  }
  [[nodiscard]] const Proto& graph() const { return graph_; }
  [[nodiscard]] const std::string& output() const { return value_; }

 private:
  void add(std::string_view op, std::initializer_list<std::string_view> inputs,
           const Proto& attributes = {}) {
    const std::string output = "v" + std::to_string(++count_);
    Proto made = node(op, inputs, output);
    // Fields may come in any order, and a message that is appended to another joins it.
    graph_.bytes(graph_proto::node, made.text() + attributes.text());
    value_ = output;
  }
  std::string constant(const Dims& dims, const std::vector<float>& values) {
    const std::string name = "c" + std::to_string(++count_);
    graph_.message(graph_proto::initializer, initializer(name, dims, values));
    return name;
  }
  void add_layer(const Layer& layer, const Layer* before) {
    const auto in = static_cast<std::int64_t>(layer.inputs);
    const auto out = static_cast<std::int64_t>(layer.outputs);
    const std::string bias = layer.bias.empty() ? "" : constant({out}, layer.bias);
    if (layer.is_convolution()) {
      Proto attributes;
      attributes.message(node_proto::attribute, attribute("strides", {2, 2}))
          .message(node_proto::attribute, attribute("pads", {0, 0, 1, 1}));
      add("Conv", {value_, constant({out, in, 3, 3}, oihw(layer)), bias}, attributes);
    } else {
      const bool flatten = before != nullptr && before->is_convolution();
      if (flatten) add("Flatten", {value_});
      const std::string weights =
          constant({in, out}, flatten ? by_channel(layer, before->outputs) : layer.weights);
      add(bias.empty() ? "MatMul" : "Gemm", {value_, weights, bias});
    }
    if (layer.relu) add("Relu", {value_});
  }

  Proto graph_;
  std::string value_ = "x0";
  int count_ = 0;
};

}  // namespace

OnnxModel make_onnx_model(const Work& work) {
  const Proto opset =
      Proto().bytes(opset_proto::domain, "").number(opset_proto::version, version_of_opset);
  const GraphWriter writer(work);
  const Proto model = Proto()
                          .number(model_proto::ir_version, version_of_ir)
                          .message(model_proto::graph, writer.graph())
                          .message(model_proto::opset_import, opset);
  return {model.text(), writer.output()};
}

std::vector<std::int64_t> onnx_input_shape(const Work& work) {
  const auto rows = static_cast<std::int64_t>(work.rows);
  if (work.is_sum()) return {static_cast<std::int64_t>(work.expected.size())};
  const Layer& first = work.layers[0];
  const auto in = static_cast<std::int64_t>(first.inputs);
  const auto side = static_cast<std::int64_t>(first.side);
  return first.is_convolution() ? Dims{1, in, side, side} : Dims{rows, in};
}

std::vector<std::int64_t> onnx_output_shape(const Work& work) {
  if (work.is_sum()) return onnx_input_shape(work);
  return {static_cast<std::int64_t>(work.rows),
          static_cast<std::int64_t>(work.layers.back().outputs)};
}

}  // namespace bench
