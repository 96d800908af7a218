// The node tests of ONNX, which others wrote, through the public API on every backend: the files of
// Debian's libonnx-testdata as they are. Prints what became of each.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>

#include "support/backends.hpp"
#include "vectors/adapters.hpp"

namespace ringkernel::test::onnx {
namespace {

namespace fs = std::filesystem;

const fs::path folder = "/usr/share/libonnx-testdata/data/node";
constexpr double tolerance = 1e-6;  ///< on |got - want| / (1 + |want|)

/// How many vectors of an op are to pass.
using Counts = std::map<std::string, int, std::less<>>;

/// Of the ops that the Core v1 specification and ONNX share: 80 vectors.
const Counts core_counts{
    {"Add", 2},        {"Conv", 6},      {"Expand", 2},    {"Gather", 4},
    {"Gemm", 11},      {"Identity", 1},  {"MatMul", 3},    {"Mul", 3},
    {"ReduceMean", 8}, {"ReduceSum", 7}, {"Relu", 1},      {"Reshape", 9},
    {"Slice", 6},      {"Squeeze", 2},   {"Transpose", 7}, {"Unsqueeze", 8},
};

/// Of the ops that we have beside those.
const Counts further_counts{{"Div", 3}, {"Exp", 2}, {"Log", 2}, {"Neg", 2}, {"Sub", 3}};

/// What no sequence of our ops computes, and why.
const std::map<std::string, std::string, std::less<>> not_expressible{
    {"test_add_uint8", "elements of ONNX type 2"},
    {"test_div_uint8", "elements of ONNX type 2"},
    {"test_mul_uint8", "elements of ONNX type 2"},
    {"test_sub_uint8", "elements of ONNX type 2"},
    {"test_identity_opt", "an input that is no tensor"},
    {"test_identity_sequence", "an input that is no tensor"},
    {"test_reduce_sum_empty_axes_input_noop_example",
     "without axes it reduces nothing; ours reduces all"},
    {"test_reduce_sum_empty_axes_input_noop_random",
     "without axes it reduces nothing; ours reduces all"},
    // Its data has no axes, whatever its name says.
    {"test_reduce_sum_negative_axes_keepdims_random",
     "without axes it reduces nothing; ours reduces all"},
    {"test_reshape_allowzero_reordered", "an extent of 0"},
    {"test_slice_neg_steps", "a negative step"},
    {"test_slice_start_out_of_bounds", "a result with an extent of 0"},
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

/// input_0.pb, input_1.pb, ... of a data set; none has more than ten.
std::vector<Tensor> tensors(const fs::path& data_set, const std::string& prefix) {
  std::vector<Tensor> list;
  for (const fs::path& file : sorted_entries(data_set))
    if (file.filename().string().starts_with(prefix))
      list.push_back(read_tensor(contents(file)).value());
  return list;
}

/// The largest |got - want| / (1 + |want|); infinite for another shape, type or a NaN.
double worst_error(const Tensor& got, const Tensor& want) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (got.dims != want.dims || got.type != want.type || want.dtype() != DType::f32) return infinite;
  double worst = 0;
  for (std::size_t at = 0; at < want.bytes.size(); at += sizeof(float)) {
    float a = 0;
    float b = 0;
    std::memcpy(&a, &got.bytes[at], sizeof a);
    std::memcpy(&b, &want.bytes[at], sizeof b);
    const double error = std::abs(static_cast<double>(a) - b) / (1 + std::abs(b));
    worst = std::isnan(error) ? infinite : std::max(worst, error);
  }
  return worst;
}

/// What became of a folder.
struct Row {
  std::string name;
  std::string op;
  std::string reason;  ///< why it is not expressible; empty: it is
  bool is_direct = false;
  double worst = 0;
};

void compute(const Kernel& kernel, const Node& node, const fs::path& vector, Row& row) {
  Session session(kernel);
  int data_sets = 0;
  for (const fs::path& data_set : sorted_entries(vector)) {
    if (!fs::is_directory(data_set)) continue;
    ++data_sets;
    const std::vector<Tensor> inputs = tensors(data_set, "input_");
    const std::vector<Tensor> outputs = tensors(data_set, "output_");
    ASSERT_EQ(inputs.size(), node.inputs.size());
    ASSERT_EQ(outputs.size(), 1u);
    const Tensor got = find_adapter(node.op)(session, node, inputs);
    row.worst = std::max(row.worst, worst_error(got, outputs[0]));
  }
  ASSERT_EQ(data_sets, 1);
  row.is_direct = session.is_direct();
}

/// A row for each model that is one node of an op that we have.
std::vector<Row> run_all(const Kernel& kernel) {
  std::vector<Row> rows;
  for (const fs::path& vector : sorted_entries(folder)) {
    SCOPED_TRACE(vector.string());
    const Model model = read_model(contents(vector / "model.onnx")).value();
    if (model.nodes.size() != 1 || find_adapter(model.nodes[0].op) == nullptr) continue;
    Row& row = rows.emplace_back(Row{vector.filename().string(), model.nodes[0].op, {}});
    try {
      if (!model.takes_tensors) throw NotExpressible{"an input that is no tensor"};
      compute(kernel, model.nodes[0], vector, row);
    } catch (const NotExpressible& why) {
      row.reason = why.reason;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
      row.worst = std::numeric_limits<double>::infinity();
    }
  }
  return rows;
}

void print(const std::vector<Row>& rows) {
  std::printf("%-52s %-11s %-16s %s\n", "folder", "op", "how", "worst |a-b| / (1+|b|)");
  for (const Row& row : rows) {
    std::printf("%-52s %-11s ", row.name.c_str(), row.op.c_str());
    if (row.reason.empty())
      std::printf("%-16s %.1e\n", row.is_direct ? "direct" : "adapted", row.worst);
    else
      std::printf("%-16s %s\n", "not expressible", row.reason.c_str());
  }
}

TEST(OnnxVectors, AreEightyOfTheCoreOps) {
  const auto sum = [](int total, const auto& entry) { return total + entry.second; };
  EXPECT_EQ(std::accumulate(core_counts.begin(), core_counts.end(), 0, sum), 80);
}

class OnnxVectorsOn : public OnEachBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, OnnxVectorsOn, ::testing::ValuesIn(backend_names),
                         backend_label);

TEST_P(OnnxVectorsOn, GiveWhatTheyWantOrAReason) {
  ASSERT_TRUE(fs::is_directory(folder))
      << folder << " is missing: install libonnx-testdata (./rk packages)";
  auto runtime = open();
  const std::vector<Row> rows = run_all(active(runtime, "ops", {.program = "core"}));
  print(rows);

  Counts passed;
  std::map<std::string, std::string, std::less<>> refused;
  for (const Row& row : rows) {
    if (!row.reason.empty()) {
      refused.emplace(row.name, row.reason);
    } else {
      EXPECT_LE(row.worst, tolerance) << row.name;
      passed[row.op] += row.worst <= tolerance ? 1 : 0;
    }
  }
  Counts wanted = core_counts;
  wanted.insert(further_counts.begin(), further_counts.end());
  EXPECT_THAT(passed, ::testing::ContainerEq(wanted));
  EXPECT_THAT(refused, ::testing::ContainerEq(not_expressible));
}

}  // namespace
}  // namespace ringkernel::test::onnx
