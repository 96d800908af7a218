// Larger models of others, which `rk` fetches: what onnxruntime 1.32.0 answers is written down.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ringkernel/onnx.hpp"
#include "support/backends.hpp"

namespace ringkernel::onnx {
namespace {

struct Answer {
  std::size_t element;
  float value;
};

struct FetchedModel {
  const char* name;
  const char* variable;  ///< of the environment: the file
  decltype(Options::inputs) inputs;
  std::string output;
  std::size_t elements;
  std::vector<Answer> from_onnxruntime;
};

/// Numbers from 0 to 65535, always the same ones.
std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::uint32_t state = 1;
  for (std::uint32_t& number : numbers) number = (state = state * 1664525u + 1013904223u) >> 16;
  return numbers;
}

/// Elements for an input: pixels from -1 to 1, words, bytes, or a mask that hides nothing.
std::vector<std::byte> elements_for(const TensorDesc& desc, std::size_t input) {
  std::vector<std::byte> bytes(desc.bytes());
  const auto write = [&](std::size_t i, auto element) {
    std::memcpy(&bytes[i * sizeof element], &element, sizeof element);
  };
  const std::vector<std::uint32_t> given = numbers(desc.element_count());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (desc.dtype == DType::f32) write(i, static_cast<float>(given[i]) / 32768 - 1);
    if (desc.dtype == DType::i32) write(i, static_cast<std::int32_t>(given[i] % 256));
    if (desc.dtype == DType::i64) write(i, std::int64_t{input == 0 ? given[i] % 20'000 : 1});
  }
  return bytes;
}

const FetchedModel fetched_models[] = {
    {"mobilenet",
     "RINGKERNEL_MOBILENET",
     {{"x", {1, 3, 48, 192}}},
     "",
     2,
     {{0, 0.647391737f}, {1, 0.352608263f}}},
    {"minilm",
     "RINGKERNEL_MINILM",
     {{"input_ids", {1, 16}}, {"attention_mask", {1, 16}}},
     "461",
     384,
     {{0, 0.11254932f},
      {40, -0.589320838f},
      {207, -0.757793248f},
      {224, -0.575541496f},
      {286, -0.632882178f},
      {287, -0.621655226f},
      {341, 0.632040977f},
      {383, 0.0552319326f}}},
    {"magika",
     "RINGKERNEL_MAGIKA",
     {{"bytes", {1, 2048}}},
     "",
     214,
     {{0, 7.35519166e-07f},
      {1, 7.32396002e-05f},
      {148, 0.99935168f},
      {159, 5.64117981e-05f},
      {201, 5.09401507e-05f},
      {202, 0.000163444041f},
      {213, 0.000151459433f}}},
};

class ModelsOn : public ringkernel::test::OnEachBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, ModelsOn, ::testing::ValuesIn(ringkernel::test::backend_names()),
                         ringkernel::test::backend_label);

void expect_answers(RingKernelRuntime& runtime, const FetchedModel& model, const char* path) {
  Options options{.inputs = model.inputs};
  if (!model.output.empty()) options.outputs = {model.output};
  const auto graph = read_file(path, options);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto function = runtime.compile(*graph);
  ASSERT_TRUE(function) << function.error().text();
  const auto descs = function->signature().inputs;
  std::vector<std::vector<std::byte>> elements;
  std::vector<TensorView> inputs;
  for (std::size_t i = 0; i < descs.size(); ++i) {
    elements.push_back(elements_for(descs[i], i));
    inputs.emplace_back(descs[i], elements[i].data());
  }
  const auto result = function->execute(inputs);
  ASSERT_TRUE(result) << result.error().text();
  const auto got = result->elements<float>();
  ASSERT_EQ(got.size(), model.elements);
  for (const auto& [element, value] : model.from_onnxruntime)
    EXPECT_LE(std::abs(got[element] - value), 1e-5 + 1e-5 * std::abs(value))
        << element << ": " << got[element] << " instead of " << value;
}

TEST_P(ModelsOn, AnswerWhatOnnxruntimeAnswers) {
  auto runtime = open();
  std::string missing;
  for (const FetchedModel& model : fetched_models) {
    SCOPED_TRACE(model.name);
    const char* const path = std::getenv(model.variable);
    if (path == nullptr || *path == '\0')
      missing += std::string(missing.empty() ? "" : ", ") + model.variable;
    else
      expect_answers(runtime, model, path);
  }
  if (!missing.empty() && !HasFailure()) RK_SKIP_WITHOUT("models", missing);
}

}  // namespace
}  // namespace ringkernel::onnx
