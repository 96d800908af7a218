// The node tests of ONNX, which others wrote, through the importer and the public API on every
// backend: the files of Debian's libonnx-testdata as they are. Prints what became of each.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "onnx/importer.hpp"
#include "support/backends.hpp"

namespace ringkernel::onnx {
namespace {

namespace fs = std::filesystem;
using test::OnEachBackend;

const fs::path folder = "/usr/share/libonnx-testdata/data/node";
constexpr double tolerance = 1e-6;  ///< on |got - want| / (1 + |want|)

/// How many vectors of an op pass.
using Counts = std::map<std::string, int, std::less<>>;

/// Of the ops that the Core v1 specification and ONNX share: 80 vectors, and 3 that ours alone
/// could not express.
const Counts core_counts{
    {"Add", 2},        {"Conv", 6},       {"Expand", 2},    {"Gather", 4},
    {"Gemm", 11},      {"Identity", 1},   {"MatMul", 3},    {"Mul", 3},
    {"ReduceMean", 8}, {"ReduceSum", 10}, {"Relu", 1},      {"Reshape", 9},
    {"Slice", 6},      {"Squeeze", 2},    {"Transpose", 7}, {"Unsqueeze", 8},
};

/// Of the others that are read.
const Counts further_counts{
    {"Abs", 1},
    {"And", 8},
    {"ArgMax", 16},
    {"ArgMin", 16},
    {"BatchNormalization", 2},
    {"Clip", 8},
    {"Concat", 12},
    {"Div", 3},
    {"Dropout", 4},
    {"Elu", 3},
    {"Equal", 2},
    {"Erf", 1},
    {"Exp", 2},
    {"Flatten", 9},
    {"Greater", 2},
    {"GreaterOrEqual", 2},
    {"HardSigmoid", 3},
    {"HardSwish", 1},
    {"LSTM", 2},
    {"LayerNormalization", 19},
    {"LeakyRelu", 3},
    {"Less", 2},
    {"LessOrEqual", 2},
    {"Log", 2},
    {"LogSoftmax", 7},
    {"Max", 6},
    {"Min", 6},
    {"Neg", 2},
    {"Not", 3},
    {"Or", 8},
    {"PRelu", 2},
    {"Pad", 3},
    {"Pow", 1},
    {"Reciprocal", 2},
    {"ReduceL1", 8},
    {"ReduceL2", 8},
    {"ReduceMax", 8},
    {"ReduceMin", 8},
    {"ReduceSumSquare", 8},
    {"Shape", 10},
    {"Sigmoid", 2},
    {"Softmax", 7},
    {"Softplus", 2},
    {"Split", 6},
    {"Sqrt", 2},
    {"Sub", 3},
    {"Sum", 3},
    {"Tanh", 2},
    {"Where", 2},
    {"Xor", 8},
    {"of several", 21},
};

/// Windows over images and lines.
const Counts pool_counts{
    {"AveragePool", 12}, {"GlobalAveragePool", 2}, {"GlobalMaxPool", 2}, {"MaxPool", 10}};

/// Casts to types that we do not have, powers by element, and masks of what drops out.
const std::set<std::string, std::less<>> mostly_refused{"Cast", "Dropout", "Pow"};

/// Those whose inputs are of types that we do not have, of the ops that are not mostly refused.
constexpr int foreign_types = 32;

/// Those of the others that are refused, and a word of the reason.
const std::map<std::string, std::string, std::less<>> refused_others{
    {"test_averagepool_3d_default", "of 5 dims"},
    {"test_batchnorm_epsilon_training_mode", "training mode"},
    {"test_batchnorm_example_training_mode", "training mode"},
    {"test_constant", "at least one input"},
    {"test_constantofshape_float_ones", "at least one input"},
    {"test_constantofshape_int_shape_zero", "E3006"},
    {"test_constantofshape_int_zeros", "at least one input"},
    {"test_identity_opt", "no tensor"},
    {"test_identity_sequence", "no tensor"},
    {"test_lstm_batchwise", "layout"},
    {"test_lstm_with_peepholes", "peepholes"},
    {"test_maxpool_2d_dilations", "dilations"},
    {"test_maxpool_3d_default", "of 5 dims"},
    {"test_maxpool_with_argmax_2d_precomputed_pads", "output 1, '"},
    {"test_maxpool_with_argmax_2d_precomputed_strides", "output 1, '"},
    {"test_reshape_allowzero_reordered", "E3006"},
    {"test_slice_neg_steps", "a negative step"},
    {"test_split_zero_size_splits", "E3006"},
    {"test_slice_start_out_of_bounds", "a result without elements"},
};

std::vector<std::byte> contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  const Bytes bytes = std::as_bytes(std::span(chars));
  return {bytes.begin(), bytes.end()};
}

std::vector<fs::path> sorted_entries(const fs::path& path) {
  std::vector<fs::path> entries{fs::directory_iterator(path), {}};
  std::ranges::sort(entries);
  return entries;
}

/// Truth values as what we have for them: i32.
Tensor widened(const Tensor& tensor) {
  std::vector<std::byte> bytes;
  for (const std::int64_t truth : tensor.integers()) {
    const auto element = std::bit_cast<std::array<std::byte, 4>>(static_cast<std::int32_t>(truth));
    bytes.insert(bytes.end(), element.begin(), element.end());
  }
  return Tensor::with(ElementType::i32, tensor.dims, std::move(bytes));
}

/// input_0.pb, input_1.pb, ... of a data set; none has more than ten.
std::vector<Tensor> tensors(const fs::path& data_set, const std::string& prefix) {
  std::vector<Tensor> list;
  for (const fs::path& file : sorted_entries(data_set)) {
    if (!file.filename().string().starts_with(prefix)) continue;
    const std::vector<std::byte> bytes = contents(file);
    const Tensor tensor = read_tensor(bytes).value();
    if (tensor.type == ElementType::boolean) {
      list.push_back(widened(tensor));
      continue;
    }
    list.push_back(
        Tensor::with(tensor.type, tensor.dims, {tensor.bytes.begin(), tensor.bytes.end()}));
  }
  return list;
}

/// The largest |got - want| / (1 + |want|); infinite for another shape, type or a NaN.
double worst_error(const TensorView& got, const Tensor& want) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (!std::ranges::equal(got.desc.shape.dims(), want.dims) || got.desc.dtype != want.dtype())
    return infinite;
  if (want.dtype() != DType::f32)
    return std::memcmp(got.data, want.bytes.data(), want.bytes.size()) == 0 ? 0 : infinite;
  double worst = 0;
  for (std::size_t at = 0; at < want.bytes.size(); at += sizeof(float)) {
    float a = 0;
    float b = 0;
    std::memcpy(&a, static_cast<const std::byte*>(got.data) + at, sizeof a);
    std::memcpy(&b, &want.bytes[at], sizeof b);
    const double error = std::abs(static_cast<double>(a) - b) / (1 + std::abs(b));
    worst = std::isnan(error) ? infinite : std::max(worst, error);
  }
  return worst;
}

/// What a file of a model has itself, and a message does not bring: lists of integers and weights.
bool is_of_the_model(const std::string& op, std::size_t position, const Tensor& tensor) {
  if (op == "LSTM") return position >= 1 && position <= 3;
  if (op == "BatchNormalization" || op == "Dropout") return position >= 1;
  if (op == "Pow") return position == 1;
  constexpr std::array takes_lists{"ConstantOfShape", "Expand",    "Gather",   "Pad",
                                   "ReduceMean",      "ReduceSum", "Reshape",  "Slice",
                                   "Split",           "Squeeze",   "Unsqueeze"};
  return tensor.type != ElementType::f32 && (position != 0 || op == "ConstantOfShape") &&
         std::ranges::find(takes_lists, op) != takes_lists.end();
}

/// What became of a folder.
struct Row {
  std::string name;
  std::string op;
  std::string reason;  ///< why it is not imported; empty: it is
  double worst = 0;
};

Row run(RingKernelRuntime& runtime, const fs::path& vector) {
  const std::vector<std::byte> file = contents(vector / "model.onnx");
  Model model = read_model(file).value();
  const bool is_one = model.graph.nodes.size() == 1;
  Row row{vector.filename().string(), is_one ? model.graph.nodes[0].op : "of several", {}};
  for (const ValueInfo& input : model.graph.inputs)
    if (!input.is_tensor) {
      row.reason = "an input that is no tensor";
      return row;
    }
  const fs::path data_set = vector / "test_data_set_0";
  const std::vector<Tensor> given = tensors(data_set, "input_");
  std::vector<TensorView> inputs;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!is_of_the_model(row.op, i, given[i])) {
      const auto shape = Shape::make(given[i].dims);
      if (shape) inputs.push_back({{given[i].dtype(), *shape}, given[i].bytes.data()});
      continue;
    }
    model.graph.initializers.push_back(given[i]);
    model.graph.initializers.back().name = model.graph.inputs[i].name;
  }
  const Options options{.name = "vector"};
  auto graph = Importer(model, options).import();
  auto function = graph ? runtime.compile(*graph) : Result<CompiledFunction>(graph.error());
  if (!function) {
    row.reason = function.error().text();
    return row;
  }
  const auto got = function->execute(inputs);
  if (!got) {
    ADD_FAILURE() << row.name << ": " << got.error().text();
    return row;
  }
  row.worst = worst_error(got->output(0), tensors(data_set, "output_")[0]);
  return row;
}

class OnnxVectorsOn : public OnEachBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, OnnxVectorsOn, ::testing::ValuesIn(test::backend_names()),
                         test::backend_label);

TEST_P(OnnxVectorsOn, GiveWhatTheyWantOrAReason) {
  ASSERT_TRUE(fs::is_directory(folder))
      << folder << " is missing: install libonnx-testdata (./rk packages)";
  auto runtime = open();
  Counts passed;
  std::size_t refused = 0;
  int foreign = 0;
  for (const fs::path& vector : sorted_entries(folder)) {
    const std::vector<std::byte> file = contents(vector / "model.onnx");
    const auto model = read_model(file);
    ASSERT_TRUE(model) << vector << ": " << model.error().text();
    const bool has_rules = std::ranges::all_of(model->graph.nodes, [](const Node& node) {
      return find_rule(node.domain, node.op) != nullptr;
    });
    if (!has_rules) continue;
    const Row row = run(runtime, vector);
    std::printf("%-52s %-16s %s\n", row.name.c_str(), row.op.c_str(),
                row.reason.empty() ? std::to_string(row.worst).c_str() : row.reason.c_str());
    if (!row.reason.empty()) {
      if (mostly_refused.contains(row.op)) continue;
      if (row.reason.starts_with("E2005")) {
        ++foreign;
        continue;
      }
      const auto known = refused_others.find(row.name);
      if (known == refused_others.end()) {
        ADD_FAILURE() << row.name << ": " << row.reason;
        continue;
      }
      EXPECT_THAT(row.reason, ::testing::HasSubstr(known->second));
      ++refused;
      continue;
    }
    EXPECT_LE(row.worst, tolerance) << row.name;
    passed[row.op] += row.worst <= tolerance ? 1 : 0;
  }
  Counts wanted = core_counts;
  wanted.insert(further_counts.begin(), further_counts.end());
  wanted.insert(pool_counts.begin(), pool_counts.end());
  EXPECT_THAT(passed, ::testing::ContainerEq(wanted));
  EXPECT_EQ(refused, refused_others.size());
  EXPECT_EQ(foreign, foreign_types);
}

}  // namespace
}  // namespace ringkernel::onnx
