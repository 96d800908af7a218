// Classifiers of scikit-learn, as skl2onnx writes them: models/scikit.py made them. What
// onnxruntime 1.32.0 answers is written down here, for rows that they were not trained with.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ringkernel/onnx.hpp"
#include "support/backends.hpp"

namespace ringkernel::onnx {
namespace {

RK_ON_EACH_BACKEND(ScikitOn);

struct ScikitRow {
  std::int64_t label;
  std::vector<float> features;
  std::vector<float> probabilities;
};

/// 8 x 8 pixels. The first three are hard to tell.
const std::vector<ScikitRow> digits_rows = {
    {1,
     {0, 0, 5, 12, 16, 15, 0,  0,  0, 3, 16, 8, 9,  16, 0, 0,  0, 4, 16, 14, 16, 7,
      0, 0, 0, 5,  16, 15, 5,  0,  0, 0, 0,  8, 15, 6,  0, 0,  0, 0, 0,  4,  8,  14,
      0, 0, 0, 0,  0,  3,  10, 16, 1, 0, 0,  0, 0,  0,  6, 15, 2, 0, 0,  0},
     {0.0402639583f, 0.387987643f, 0.00173591962f, 1.61307071e-05f, 0.0110088922f, 0.357424319f,
      0.00786582567f, 0.0135796973f, 0.175392196f, 0.00472537009f}},
    {1,
     {0, 0, 5, 13, 0,  0,  0,  0,  0, 0, 12, 9, 4, 13, 0,  0,  0, 0, 16, 5, 11, 13,
      0, 0, 0, 0,  15, 13, 15, 7,  0, 0, 0,  0, 4, 14, 15, 0,  0, 0, 0,  0, 0,  14,
      8, 0, 0, 0,  0,  0,  2,  16, 4, 0, 0,  0, 0, 0,  6,  16, 1, 0, 0,  0},
     {0.000287555595f, 0.471548229f, 0.000848883064f, 7.51774314e-06f, 0.0106927222f,
      0.00323767052f, 7.9789912e-05f, 0.00429721875f, 0.0506599508f, 0.458340526f}},
    {2,
     {0,  4,  15, 15, 8, 0, 0,  0,  0,  8,  16, 16, 16, 3, 0,  0,  0, 1, 0, 1, 15, 5,
      0,  0,  0,  0,  0, 0, 11, 6,  0,  0,  0,  0,  0,  3, 15, 2,  0, 0, 0, 0, 4,  15,
      16, 14, 6,  0,  0, 6, 16, 16, 15, 11, 3,  0,  0,  7, 14, 11, 0, 0, 0, 0},
     {0.000178532224f, 5.01129216e-06f, 0.547408819f, 0.156135336f, 2.5065782e-07f, 0.000147211933f,
      1.57424665e-06f, 0.296022952f, 9.5229625e-05f, 5.07780669e-06f}},
    {8,
     {0,  1, 15, 14, 2,  0,  0,  0, 0,  6, 14, 0, 0, 3,  2,  0,  0,  2, 16, 3, 2,  13,
      3,  0, 0,  0,  11, 14, 15, 9, 0,  0, 0,  0, 7, 16, 11, 0,  0,  0, 0,  0, 15, 13,
      14, 0, 0,  0,  0,  2,  15, 4, 16, 3, 0,  0, 0, 1,  15, 16, 12, 1, 0,  0},
     {1.50016158e-05f, 0.000826444244f, 8.58634448e-05f, 5.90961463e-07f, 2.4608853e-05f,
      5.44325812e-05f, 0.000516350847f, 1.38081668e-06f, 0.998372018f, 0.000103474129f}},
};

/// Two classes: the last layer has one output, and the other probability is 1 less that.
const std::vector<ScikitRow> binary_rows = {
    {0,
     {0.2621f, -0.0511f, 0.2179f, 0.1337f, -0.2996f, -0.3482f, -0.175f, -0.1437f, -0.915f,
      -0.5171f},
     {0.502622008f, 0.497377992f}},
    {1,
     {0.7278f, 0.2118f, 0.6232f, 0.5765f, -1.5222f, -0.6296f, -0.6567f, -0.6668f, 0.1255f,
      -1.3535f},
     {0.391084552f, 0.608915448f}},
    {0,
     {1.8383f, 2.3365f, 1.9825f, 1.7352f, 1.5258f, 3.2721f, 3.2969f, 2.6589f, 2.1372f, 1.0437f},
     {0.999987185f, 1.28149986e-05f}},
};

/// The same rows, told apart by a line.
const std::vector<ScikitRow> logistic_rows = {
    {1, binary_rows[0].features, {0.384416312f, 0.615583718f}},
    {1, binary_rows[1].features, {0.313696444f, 0.686303556f}},
    {0, binary_rows[2].features, {0.999999881f, 8.94069672e-08f}},
};

/// Scaled, then told apart by lines.
const std::vector<ScikitRow> iris_rows = {
    {0, {5.1f, 3.5f, 1.4f, 0.2f}, {0.984703183f, 0.0152967693f, 6.20378131e-08f}},
    {2, {6.7f, 3.0f, 5.0f, 1.7f}, {0.0011781666f, 0.458057255f, 0.54076457f}},
    {2, {6.0f, 2.2f, 5.0f, 1.5f}, {0.000385717372f, 0.464580774f, 0.535033464f}},
};

struct ScikitModel {
  const char* file;
  const std::vector<ScikitRow>& rows;
};
const ScikitModel scikit_models[] = {{"digits_mlp", digits_rows},
                                     {"binary_mlp", binary_rows},
                                     {"binary_logistic", logistic_rows},
                                     {"iris_pipeline", iris_rows}};

Result<Graph> read_scikit(const char* file, std::size_t rows, std::size_t features,
                          std::vector<std::string> outputs = {}) {
  const std::array extents{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(features)};
  return read_file(
      std::string(RK_MODELS "/") + file + ".onnx",
      {.inputs = {{"input", {extents.begin(), extents.end()}}}, .outputs = std::move(outputs)});
}

void expect_probabilities(std::span<const float> got, std::span<const float> want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_LE(std::abs(got[i] - want[i]), 1e-5 + 1e-5 * std::abs(want[i]))
        << i << ": " << got[i] << " instead of " << want[i];
}

TEST_P(ScikitOn, TellWhatOnnxruntimeTellsRowByRow) {
  auto runtime = open();
  for (const auto& [file, rows] : scikit_models) {
    SCOPED_TRACE(file);
    const auto model = read_scikit(file, 1, rows[0].features.size());
    ASSERT_TRUE(model) << model.error().text();
    const CompiledFunction function = runtime.compile(*model).value();
    for (const ScikitRow& row : rows) {
      const auto result = function.execute(row.features);
      ASSERT_TRUE(result) << result.error().text();
      EXPECT_THAT(result->elements<std::int64_t>(0), ::testing::ElementsAre(row.label));
      expect_probabilities(result->elements<float>(1), row.probabilities);
    }
  }
}

TEST_P(ScikitOn, TellManyRowsInOneMessage) {
  auto runtime = open();
  for (const auto& [file, rows] : scikit_models) {
    SCOPED_TRACE(file);
    std::vector<float> features, probabilities;
    std::vector<std::int64_t> labels;
    for (const ScikitRow& row : rows) {
      labels.push_back(row.label);
      features.insert(features.end(), row.features.begin(), row.features.end());
      probabilities.insert(probabilities.end(), row.probabilities.begin(), row.probabilities.end());
    }
    const auto model = read_scikit(file, rows.size(), rows[0].features.size());
    ASSERT_TRUE(model) << model.error().text();
    const CompiledFunction function = runtime.compile(*model).value();
    const auto result =
        function.execute(TensorView(function.signature().inputs[0], features.data()));
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(result->elements<std::int64_t>(0), ::testing::ElementsAreArray(labels));
    expect_probabilities(result->elements<float>(1), probabilities);
  }
}

TEST(ScikitOutputs, LeaveOutWhatOnlyTheLabelNeeds) {
  const auto all = read_scikit("digits_mlp", 1, 64);
  const auto bare = read_scikit("digits_mlp_bare", 1, 64);
  const auto wanted = read_scikit("digits_mlp", 1, 64, {"probabilities"});
  ASSERT_TRUE(all && bare && wanted);
  EXPECT_EQ(wanted->op_count(), bare->op_count());
  EXPECT_GT(all->op_count(), bare->op_count());
}

}  // namespace
}  // namespace ringkernel::onnx
