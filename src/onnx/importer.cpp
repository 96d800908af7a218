#include "onnx/importer.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "foundation/memory_error.hpp"
#include "onnx/rules.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel::onnx {
namespace {

/// "node 'dense/MatMul' (MatMul)"
std::string place_of(const Node& node) {
  const std::string op = node.domain.empty() ? node.op : node.domain + "." + node.op;
  if (node.name.empty() && !node.outputs.empty())
    return "the node that makes '" + node.outputs[0] + "' (" + op + ")";
  return "node '" + node.name + "' (" + op + ")";
}

/// "[2, ?]": open ones have no number.
std::string text_of(const Integers& extents) {
  std::string text;
  for (const std::int64_t extent : extents)
    text += (text.empty() ? "" : ", ") + (extent < 0 ? "?" : std::to_string(extent));
  return "[" + text + "]";
}

/// invalid_argument with the names there are.
Result<void> check_name(const std::vector<ValueInfo>& all, const std::string& what,
                        std::string_view name) {
  std::string names;
  for (const ValueInfo& one : all) {
    if (one.name == name) return {};
    names += (names.empty() ? "'" : ", '") + one.name + "'";
  }
  return Error(Errc::invalid_argument,
               "the model has no " + what + " '" + std::string(name) + "'; it has " + names);
}

}  // namespace

Integers Value::dims() const {
  if (known) return known->dims;
  const auto extents = (made ? made : channels_last)->desc().shape.dims();
  if (made) return {extents.begin(), extents.end()};
  if (is_line) return {extents[0], extents[3], extents[2]};
  return {extents[0], extents[3], extents[1], extents[2]};
}

Value Value::with_channels_last(const Graph::Value& value, bool is_line) {
  Value result;
  result.channels_last = value;
  result.is_line = is_line;
  return result;
}

std::optional<std::int64_t> axis_of(std::int64_t axis, std::int64_t rank) {
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return axis;
}

Result<void> Room::take(std::uint64_t wanted) {
  if (wanted > bytes)
    return Error(Errc::limit_exceeded, "the constants are many times as large as the file's");
  bytes -= wanted;
  return {};
}

// --- a node -----------------------------------------------------------------------------------

Result<Graph::Value> Operation::operand(std::size_t position) const {
  if (!has(position)) return refusal("operand " + std::to_string(position) + " is missing");
  Value& value = *inputs_[position];
  if (value.made) return *value.made;
  if (value.known) {
    RK_TRY(made, constant(*value.known));
    value.made = made;
  } else {
    RK_TRY(turned, transpose(*value.channels_last, {0, 3, 1, 2}));
    value.made = turned;
    if (value.is_line) {
      RK_TRY(line, add(ops::squeeze(turned, {2})));
      value.made = line;
    }
  }
  return *value.made;
}

Result<Graph::Value> Operation::channels_last(std::size_t position, std::int64_t rank) const {
  if (!has(position)) return refusal("operand " + std::to_string(position) + " is missing");
  Value& value = *inputs_[position];
  if (value.channels_last) return *value.channels_last;
  if (value.known) {
    Tensor tensor = *value.known;
    tensor.dims.insert(tensor.dims.begin(), static_cast<std::size_t>(rank) - tensor.dims.size(), 1);
    if (rank == 3) tensor.dims.insert(tensor.dims.begin() + 2, 1);
    return constant(transposed(tensor, {0, 2, 3, 1}));
  }
  Graph::Value images = *value.made;
  if (rank == 3) {
    RK_TRY(one_row, add(ops::expand_dims(images, {2})));
    images = one_row;
  }
  RK_TRY(turned, transpose(images, {0, 2, 3, 1}));
  value.channels_last = turned;
  value.is_line = rank == 3;
  return turned;
}

Result<Graph::Value> Operation::constant(const Tensor& tensor) const {
  if (tensor.is_external)
    return refusal("tensor '" + tensor.name + "' lies in another file, which is not read");
  if (tensor.dtype() == DType::none)
    return Error(Errc::invalid_dtype,
                 place_of(node_) + ": " +
                     (tensor.name.empty() ? "a constant" : "tensor '" + tensor.name + "'") +
                     " is of " + name_of(tensor.type));
  RK_TRY(shape, Shape::make(tensor.dims));
  if (tensor.type == ElementType::boolean) {  // ours have four bytes
    std::vector<std::int32_t> truths;
    for (const std::int64_t truth : tensor.integers()) truths.push_back(truth != 0 ? 1 : 0);
    return constant(TensorView(shape, truths));
  }
  // Where the elements lie in the file they need not be aligned; the graph copies them.
  return constant(TensorView({tensor.dtype(), shape}, tensor.bytes.data()));
}

Result<Graph::Value> Operation::constant(const TensorView& elements) const {
  RK_TRY_VOID(room_.take(elements.desc.bytes()));
  const Graph::Value value = graph_.constant(elements);
  RK_TRY_VOID(graph_.status());
  return value;
}

Result<Graph::Value> Operation::transpose(const Graph::Value& x,
                                          const Integers& permutation) const {
  const auto extents = x.desc().shape.dims();
  Integers dims;
  Integers moved;  // the order of those that matter
  for (const std::int64_t from : permutation) {
    dims.push_back(extents[static_cast<std::size_t>(from)]);
    if (dims.back() != 1) moved.push_back(from);
  }
  if (!std::ranges::is_sorted(moved)) return add(ops::transpose(x, IntList(permutation)));
  if (std::ranges::equal(dims, extents)) return x;
  return add(ops::reshape(x, IntList(dims)));
}

Result<Integers> Operation::integers(std::size_t position) const {
  const std::string what = "operand " + std::to_string(position);
  if (!has(position) || !value(position).is_known())
    return refusal(what + " has to be known when it is read");
  const Tensor& tensor = *value(position).known;
  if (tensor.is_external)
    return refusal("tensor '" + tensor.name + "' lies in another file, which is not read");
  if (tensor.type != ElementType::i64 && tensor.type != ElementType::i32)
    return refusal(what + " is a list of " + name_of(tensor.type));
  return tensor.integers();
}

Result<Integers> Operation::list(std::size_t position, std::string_view attribute) const {
  if (has(position)) return integers(position);
  return node_.integers(attribute);
}

Result<Graph::Value> Operation::add(const Request& request) const {
  const Graph::Value value = graph_.add(request);
  if (graph_.status()) return value;
  Error error = graph_.status().error();
  error.detail = place_of(node_) + ": " + error.detail;
  return error;
}

Error Operation::refusal(std::string why) const {
  return {Errc::unsupported_operation, place_of(node_) + ": " + std::move(why)};
}

// --- a model ----------------------------------------------------------------------------------

Importer::Importer(const Model& model, const Options& options)
    : model_(model),
      options_(options),
      graph_(!options.name.empty()      ? options.name
             : model.graph.name.empty() ? std::string("model")
                                        : model.graph.name) {
  constexpr std::uint64_t at_least = std::uint64_t{64} << 20;
  constexpr std::uint64_t times = 4;
  room_.bytes = at_least;
  for (const Tensor& tensor : model.graph.initializers) room_.bytes += times * tensor.bytes.size();
}

Result<Graph> Importer::import() {
  if (model_.graph.has_sparse_initializers || model_.has_functions)
    return Error(Errc::unsupported_operation, model_.has_functions
                                                  ? "the model has functions of its own"
                                                  : "the model has sparse initialisers");
  RK_TRY_VOID(find_outputs());
  find_needed();
  RK_TRY_VOID(check_rules());
  RK_TRY_VOID(take_inputs());
  for (const Node* const node : needed_) RK_TRY_VOID(lower(*node));
  for (const auto& [input, output] : options_.state) {
    RK_TRY(next, result(output));
    graph_.update(*values_.find(input)->second.made, next);
  }
  std::set<std::string_view> named;
  for (const std::string& name : outputs_) {
    RK_TRY(value, result(name));
    graph_.output(value, named.insert(name).second ? name : std::string());  // wanted twice
  }
  RK_TRY_VOID(graph_.status());
  return std::move(graph_);
}

Result<Graph::Value> Importer::result(const std::string& name) {
  static const Node none;
  const auto found = values_.find(name);
  if (found == values_.end())
    return Error(Errc::malformed_message, "nothing makes output '" + name + "'");
  return Operation(graph_, room_, none, {&found->second}, 0).operand(0);
}

Result<void> Importer::check_output(std::string_view name) const {
  return check_name(model_.graph.outputs, "output", name);
}

Result<void> Importer::check_input(std::string_view name) const {
  return check_name(model_.graph.inputs, "input", name);
}

Result<void> Importer::find_outputs() {
  std::set<std::string_view> states;
  for (const auto& [input, output] : options_.state) {
    RK_TRY_VOID(check_input(input));
    RK_TRY_VOID(check_output(output));
    states.insert(output);
  }
  for (const std::string& name : options_.outputs) RK_TRY_VOID(check_output(name));
  outputs_ = options_.outputs;
  if (outputs_.empty())
    for (const ValueInfo& output : model_.graph.outputs)
      if (!states.contains(output.name)) outputs_.push_back(output.name);
  if (outputs_.empty())
    return states.empty() ? Error(Errc::malformed_message, "the model has no outputs")
                          : Error(Errc::invalid_argument,
                                  "all outputs are states: Options::outputs names some");
  return {};
}

void Importer::find_needed() {
  wanted_.insert(outputs_.begin(), outputs_.end());
  for (const auto& [input, output] : options_.state) {
    wanted_.insert(input);
    wanted_.insert(output);
  }
  for (auto node = model_.graph.nodes.rbegin(); node != model_.graph.nodes.rend(); ++node) {
    const bool is_needed = std::ranges::any_of(
        node->outputs, [&](const std::string& name) { return wanted_.contains(name); });
    if (!is_needed) continue;
    needed_.push_back(&*node);
    for (const std::string& name : node->inputs)
      if (!name.empty()) wanted_.insert(name);
  }
  std::ranges::reverse(needed_);
}

Result<void> Importer::check_rules() const {
  std::string refused;
  std::size_t count = 0;
  for (const Node* const node : needed_) {
    const Rule* const rule = find_rule(node->domain, node->op);
    const std::int64_t version = model_.operator_set(node->domain);
    std::string why;
    if (rule == nullptr)
      why = "no such op here";
    else if (version < rule->since || version > rule->until)
      why = "of operator set " + std::to_string(version) + "; " + std::to_string(rule->since) +
            " to " + std::to_string(rule->until) + " are read";
    if (why.empty()) continue;
    ++count;
    refused += (refused.empty() ? "" : "; ") + place_of(*node) + ": " + why;
  }
  if (count == 0) return {};
  return Error(Errc::unsupported_operation, std::to_string(count) + " of " +
                                                std::to_string(needed_.size()) +
                                                " nodes cannot be imported: " + refused);
}

Result<Integers> Importer::extents_of(const ValueInfo& info) const {
  const auto given = options_.inputs.find(info.name);
  Integers extents;
  for (const Extent& extent : info.extents) extents.push_back(extent.value);
  if (given != options_.inputs.end()) {
    const bool fits =
        !info.has_shape || std::ranges::equal(extents, given->second, [](auto file, auto wanted) {
          return file < 0 || file == wanted;
        });
    if (fits) return given->second;
    return Error(Errc::invalid_argument, "input '" + info.name + "' has the extents " +
                                             text_of(extents) + " in the file and " +
                                             text_of(given->second) + " in the options");
  }
  for (std::size_t dim = 0; dim < extents.size(); ++dim)
    if (extents[dim] < 0)
      return Error(
          Errc::invalid_argument,
          "input '" + info.name + "' leaves extent " + std::to_string(dim) +
              (info.extents[dim].name.empty() ? "" : " ('" + info.extents[dim].name + "')") +
              " open: Options::inputs has to say it");
  if (!info.has_shape)
    return Error(Errc::invalid_argument,
                 "input '" + info.name + "' has no shape: Options::inputs has to say it");
  return extents;
}

Result<void> Importer::take_inputs() {
  const auto twice = [](const std::string& name) {
    return Error(Errc::malformed_message, "there are two of '" + name + "'");
  };
  for (const Tensor& tensor : model_.graph.initializers) {
    const auto [place, is_new] = values_.try_emplace(tensor.name);
    if (!is_new) return twice(tensor.name);
    place->second.known = tensor;
  }
  std::set<std::string_view> names;
  for (const auto& [name, extents] : options_.inputs) RK_TRY_VOID(check_input(name));
  for (const ValueInfo& info : model_.graph.inputs) {
    if (!names.insert(info.name).second) return twice(info.name);
    const bool is_state = options_.state.contains(info.name);
    if (values_.contains(info.name)) {  // a default: it stays
      if (!is_state) continue;
      return Error(Errc::unsupported,
                   "state '" + info.name + "' has elements in the file; states begin with zeros");
    }
    if (!wanted_.contains(info.name)) continue;
    if (!info.is_tensor) return Error(Errc::unsupported, "input '" + info.name + "' is no tensor");
    RK_TRY(extents, extents_of(info));
    RK_TRY(shape, Shape::make(extents));
    const DType dtype = dtype_of(info.type);
    if (dtype == DType::none)
      return Error(Errc::invalid_dtype, "input '" + info.name + "' is of " + name_of(info.type));
    const TensorDesc desc{dtype, shape};
    const Graph::Value value =
        is_state ? graph_.state(desc, info.name) : graph_.input(desc, info.name);
    values_[info.name] = value;
    if (!is_state && info.type == ElementType::boolean) {  // whatever is not 0 is true
      constexpr std::int32_t zero = 0;
      values_[info.name] =
          graph_.add(ops::compare(value, {{dtype, {}}, &zero}, Comparison::not_equal));
    }
    RK_TRY_VOID(graph_.status());
  }
  return {};
}

Result<void> Importer::lower(const Node& node) {
  std::vector<Value*> inputs;
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      inputs.push_back(nullptr);
      continue;
    }
    const auto found = values_.find(name);
    if (found == values_.end())
      return Error(Errc::malformed_message,
                   place_of(node) + ": nothing before it makes '" + name + "'");
    inputs.push_back(&found->second);
  }
  if (node.outputs.empty()) return {};
  for (const std::string& name : node.outputs)
    if (values_.contains(name))
      return Error(Errc::malformed_message, place_of(node) + " makes '" + name + "' once more");
  const Rule& rule = *find_rule(node.domain, node.op);
  const Operation operation(graph_, room_, node, std::move(inputs),
                            model_.operator_set(node.domain));
  for (std::size_t i = 0; i < rule.operands; ++i)
    if (!operation.has(i)) return operation.refusal("operand " + std::to_string(i) + " is missing");
  if (std::optional<Tensor> known = rule.fold(operation)) {
    if (known->dims.size() > dims_max)
      return operation.refusal("a result of " + std::to_string(known->dims.size()) + " dims");
    if (known->own != nullptr) RK_TRY_VOID(room_.take(known->own->size()));
    values_[node.outputs[0]].known = std::move(known);
    return {};
  }
  RK_TRY(made, rule.lower(operation));
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string& name = node.outputs[i];
    if (name.empty()) continue;
    if (i < made.size() && made[i].is_there())
      values_[name] = std::move(made[i]);
    else if (wanted_.contains(name))
      return operation.refusal("output " + std::to_string(i) + ", '" + name +
                               "', is not given here");
  }
  return {};
}

Result<Graph> read_file(const std::string& path, const Options& options) {
  return or_no_memory([&]() -> Result<Graph> {
    const auto unreadable = [&](const std::string& why) {
      return Error(Errc::invalid_argument, "'" + path + "' cannot be read: " + why);
    };
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(path, failed);
    if (failed) return unreadable(failed.message());
    std::vector<char> bytes(size);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(bytes.data(), static_cast<std::streamsize>(size)))
      return unreadable(std::generic_category().message(errno));
    Result<Graph> graph = read(std::as_bytes(std::span(bytes)), options);
    if (graph) return graph;
    Error error = std::move(graph).error();
    error.detail = "'" + path + "': " + error.detail;
    return error;
  });
}

Result<Graph> read(std::span<const std::byte> file, const Options& options) {
  return or_no_memory([&]() -> Result<Graph> {
    RK_TRY(model, read_model(file));
    return Importer(model, options).import();
  });
}

}  // namespace ringkernel::onnx
