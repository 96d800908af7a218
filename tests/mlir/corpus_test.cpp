// Modules of the corpus, run: what comes out is what numpy says, and the same bits on each backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "mlir/corpus.hpp"
#include "ringkernel/mlir.hpp"
#include "support/backends.hpp"

namespace ringkernel::mlir::test {
namespace {

Result<FunctionResult> answer_of(RingKernelRuntime& runtime, const CorpusFile& file) {
  RK_TRY(graph, read(file.text, {.name = file.name}));
  RK_TRY(function, runtime.compile(graph));
  std::vector<TensorView> inputs;
  for (const Elements& input : file.inputs) inputs.push_back(input.view());
  return function.execute(inputs);
}

void expect_numbers(std::span<const float> got, std::span<const float> want) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    const bool is_same = got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]));
    const float distance = std::abs(got[i] - want[i]);
    EXPECT_TRUE(is_same || distance <= 1e-5f + 1e-5f * std::abs(want[i]))
        << "element " << i << ": " << got[i] << " instead of " << want[i];
  }
}

void expect_elements(const TensorView& got, const Elements& want) {
  ASSERT_EQ(got.desc.dtype, want.desc.dtype);
  ASSERT_EQ(got.desc.shape, want.desc.shape);
  const TensorView wanted = want.view();
  if (want.desc.dtype == DType::f32)
    expect_numbers(got.elements<float>(), wanted.elements<float>());
  else
    EXPECT_EQ(std::memcmp(got.data, want.bytes.data(), want.bytes.size()), 0) << "other integers";
}

/// Nothing where no MLIR is there.
std::optional<unsigned> major_here() {
  static const Result<LibraryInfo> library = find_library();
  if (!library) return std::nullopt;
  return library->major;
}

class MlirCorpus : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    runtime_.emplace(RingKernelRuntime::builder().backend("native").build().value());
  }
  static void TearDownTestSuite() { runtime_.reset(); }

  static std::optional<RingKernelRuntime> runtime_;
};
std::optional<RingKernelRuntime> MlirCorpus::runtime_;

TEST_P(MlirCorpus, AnswersWhatNumpyAnswers) {
  const auto major = major_here();
  if (!major) RK_SKIP_WITHOUT("mlir", "none is found");
  if (!is_for(GetParam(), *major)) return;
  const CorpusFile file = corpus_file(GetParam());
  const auto got = answer_of(*runtime_, file);
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_EQ(got->size(), file.outputs.size());
  for (std::size_t i = 0; i < got->size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    expect_elements(got->output(i), file.outputs[i]);
  }
}

std::string name_of_file(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '.', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Files, MlirCorpus, ::testing::ValuesIn(corpus_names()), name_of_file);

class MlirCorpusOn : public ringkernel::test::OnEachBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, MlirCorpusOn, ::testing::Values("opencl"),
                         ringkernel::test::backend_label);

TEST_P(MlirCorpusOn, GivesTheBitsOfTheNativeBackend) {
  const auto major = major_here();
  if (!major) RK_SKIP_WITHOUT("mlir", "none is found");
  auto runtime = open();
  auto native = open_on("native").value();
  for (const std::string& name : corpus_names()) {
    if (!is_for(name, *major)) continue;
    SCOPED_TRACE(name);
    const CorpusFile file = corpus_file(name);
    const auto got = answer_of(runtime, file);
    const auto want = answer_of(native, file);
    EXPECT_EQ(got.has_value(), want.has_value());
    if (!got || !want) continue;
    for (std::size_t i = 0; i < got->size(); ++i)
      EXPECT_EQ(
          std::memcmp(got->output(i).data, want->output(i).data, file.outputs[i].bytes.size()), 0);
  }
}

}  // namespace
}  // namespace ringkernel::mlir::test
