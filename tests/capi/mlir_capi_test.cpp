// Functions in MLIR from C: with the MLIR that ctest names, and without any.
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "capi/nonsense.hpp"
#include "capi/ringkernel_fixture.hpp"
#include "support/skip.hpp"

namespace ringkernel::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* scores_text = R"(
func.func @scores(%x: tensor<1x2xf32>, %bias: tensor<1x2xf32>)
    -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x2xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2xf32>) -> tensor<1x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<1x2xf32>, tensor<2x2xf32>)
                     outs(%zeros : tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = arith.addf %0, %bias : tensor<1x2xf32>
  %2 = arith.maximumf %1, %zeros : tensor<1x2xf32>
  return %1, %2 : tensor<1x2xf32>, tensor<1x2xf32>
}
)";

/// Argument 0 is kept, and becomes result 1.
constexpr const char* sums_text = R"(
func.func @sums(%total: tensor<2xf32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = arith.addf %total, %x : tensor<2xf32>
  %1 = arith.negf %0 : tensor<2xf32>
  return %1, %0 : tensor<2xf32>, tensor<2xf32>
}
)";

struct Told {
  std::int32_t severity;
  std::uint32_t line;
  std::uint32_t column;
  std::string file;
  std::string text;
};

class MlirCapi : public ResidentsCapi {
 protected:
  MlirCapi() {
    module_.struct_size = sizeof module_;
    module_.diagnostic = [](void* user, const ringkernel_diagnostic* one) {
      static_cast<MlirCapi*>(user)->told_.push_back(
          {one->severity, one->line, one->column, one->file, one->text});
      EXPECT_EQ(one->struct_size, sizeof *one);
      EXPECT_EQ(one->reserved, 0u);
    };
    module_.user = this;
  }
  ringkernel_status compile(const char* text) {
    module_.text = text;
    told_.clear();
    return ringkernel_function_compile_mlir(runtime_, &module_, nullptr, &made_);
  }
  ringkernel_status execute(ringkernel_function* function, std::vector<ringkernel_tensor> operands,
                            std::vector<ringkernel_tensor> results) {
    ringkernel_execution asked{};
    asked.struct_size = sizeof asked;
    asked.inputs = operands.data();
    asked.input_count = operands.size();
    asked.results = results.data();
    asked.result_count = results.size();
    return ringkernel_function_execute(function, &asked);
  }

  ringkernel_mlir_module module_{};
  ringkernel_function* made_ = nullptr;
  std::vector<Told> told_;
};

/// With the library that there is.
class MlirFunctionsCapi : public MlirCapi {
 protected:
  void SetUp() override {
    const char* const version = std::getenv("RK_MLIR");
    const ringkernel_status status = compile("");
    if (version == nullptr &&
        (status == RINGKERNEL_E_library_not_found || status == RINGKERNEL_E_symbol_not_found ||
         status == RINGKERNEL_E_unsupported))
      RK_SKIP_WITHOUT("mlir", last_error());
    ASSERT_EQ(status, RINGKERNEL_E_invalid_argument) << last_error();  // it has no function
  }
  std::array<float, 2> total_after(ringkernel_function* function, std::array<float, 2> x) {
    std::array<float, 2> negative{};
    EXPECT_EQ(execute(function, {tensor(x, {2})}, {tensor(negative, {})}), RINGKERNEL_OK)
        << last_error();
    return {-negative[0], -negative[1]};
  }
};

TEST_F(MlirFunctionsCapi, RunInOneMessage) {
  ASSERT_EQ(compile(scores_text), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(told_, IsEmpty());
  std::array<float, 2> x{1, 2}, bias{-10, 10}, sum{}, relu{};
  ASSERT_EQ(execute(made_, {tensor(x, {1, 2}), tensor(bias, {1, 2})},
                    {tensor(sum, {}), tensor(relu, {})}),
            RINGKERNEL_OK)
      << last_error();
  EXPECT_THAT(sum, ElementsAre(-3, 20));
  EXPECT_THAT(relu, ElementsAre(0, 20));
  EXPECT_EQ(execute(made_, {tensor(x, {1, 2})}, {tensor(sum, {}), tensor(relu, {})}), 2007);
  EXPECT_THAT(last_error(), HasSubstr("'scores' has 2 inputs, not 1"));
  EXPECT_EQ(ringkernel_function_close(made_), RINGKERNEL_OK);
}

TEST_F(MlirFunctionsCapi, KeepStates) {
  const std::size_t kept = 0;
  const std::size_t next = 1;
  module_.state_arguments = &kept;
  module_.state_results = &next;
  module_.state_count = 1;
  ASSERT_EQ(compile(sums_text), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(total_after(made_, {1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(total_after(made_, {1, 2}), ElementsAre(2, 4));
  ringkernel_function* other = nullptr;
  ASSERT_EQ(ringkernel_function_instance(made_, nullptr, &other), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(total_after(other, {5, 5}), ElementsAre(5, 5));
  EXPECT_THAT(total_after(made_, {0, 0}), ElementsAre(2, 4));
  std::array<float, 2> state{};
  ringkernel_tensor result = tensor(state, {});
  ASSERT_EQ(ringkernel_function_read_state(other, 0, 0, &result), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(state, ElementsAre(5, 5));
  const std::size_t others[] = {0, 0};
  module_.state_arguments = others;
  module_.state_results = others;
  module_.state_count = 2;
  EXPECT_EQ(compile(sums_text), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), HasSubstr("argument 0 is in module->state_arguments twice"));
  module_.state_count = 1;
  const std::size_t none = 7;
  module_.state_results = &none;
  EXPECT_EQ(compile(sums_text), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), HasSubstr("argument 0 becomes result 7"));
}

TEST_F(MlirFunctionsCapi, AreChosenByTheirNames) {
  const std::string both = std::string(scores_text) + sums_text;
  EXPECT_EQ(compile(both.c_str()), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), HasSubstr("'scores', 'sums'"));
  module_.function = "sums";
  ASSERT_EQ(compile(both.c_str()), RINGKERNEL_OK) << last_error();
  ringkernel_signature signature{};
  signature.struct_size = sizeof signature;
  ASSERT_EQ(ringkernel_function_signature(made_, &signature), RINGKERNEL_OK);
  EXPECT_EQ(signature.inputs, 2u);
  EXPECT_EQ(signature.outputs, 2u);
  EXPECT_EQ(signature.states, 0u);
  module_.function = "none";
  EXPECT_EQ(compile(both.c_str()), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), HasSubstr("'none'"));
}

TEST_F(MlirFunctionsCapi, ComeFromTextThatHasAnEnd) {
  const std::string text = scores_text + std::string("\nnonsense");
  module_.text_bytes = std::string_view(scores_text).size();
  EXPECT_EQ(compile(text.c_str()), RINGKERNEL_OK) << last_error();
  module_.text_bytes = 0;
  EXPECT_EQ(compile(text.c_str()), RINGKERNEL_E_invalid_argument);
}

TEST_F(MlirFunctionsCapi, TellWhatMlirRefusesAndWhere) {
  module_.name = "sums.mlir";
  EXPECT_EQ(compile("func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                    "  %0 = arith.negf %a : tensor<2xf32>\n"
                    "  %0 = arith.negf %a : tensor<2xf32>\n"
                    "  return %0 : tensor<2xf32>\n"
                    "}\n"),
            RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), AllOf(HasSubstr("sums.mlir:3:3: "), HasSubstr("redefinition")));
  if (const char* const version = std::getenv("RK_MLIR"); version != nullptr) {
    EXPECT_THAT(last_error(), HasSubstr("(MLIR " + std::string(version) + "."));
  }
  ASSERT_THAT(told_, SizeIs(2));
  EXPECT_EQ(told_[0].severity, RINGKERNEL_SEVERITY_ERROR);
  EXPECT_EQ(told_[0].file, "sums.mlir");
  EXPECT_EQ(told_[0].line, 3u);
  EXPECT_EQ(told_[0].column, 3u);
  EXPECT_THAT(told_[0].text, AllOf(HasSubstr("redefinition"), Not(HasSubstr("sums.mlir"))));
  EXPECT_EQ(told_[1].severity, RINGKERNEL_SEVERITY_NOTE);
  EXPECT_EQ(told_[1].line, 2u);
  module_.diagnostic = nullptr;
  EXPECT_EQ(compile("nonsense"), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(MlirFunctionsCapi, TellEachOpThatIsNotRead) {
  EXPECT_EQ(compile("func.func @f(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {\n"
                    "  %0 = math.acosh %a : tensor<2xf32>\n"
                    "  %1 = math.cbrt %a : tensor<2xf32>\n"
                    "  return %0, %1 : tensor<2xf32>, tensor<2xf32>\n"
                    "}\n"),
            6003);
  EXPECT_THAT(last_error(), AllOf(HasSubstr("-:2:"), HasSubstr("'math.cbrt'")));
  ASSERT_THAT(told_, SizeIs(2));
  EXPECT_THAT(told_[0].text, HasSubstr("'math.acosh'"));
  EXPECT_EQ(told_[1].line, 3u);
}

/// What an older caller does not have is not looked at, and what a newer one has beyond neither.
TEST_F(MlirFunctionsCapi, TakeStructsOfOtherSizes) {
  struct Newer {
    ringkernel_mlir_module known;
    std::uint64_t unknown;
  } newer{};
  newer.known.text = scores_text;
  newer.unknown = 7;
  newer.known.struct_size = sizeof newer;
  EXPECT_EQ(ringkernel_function_compile_mlir(runtime_, &newer.known, nullptr, &made_),
            RINGKERNEL_OK)
      << last_error();
  newer.known.struct_size = offsetof(ringkernel_mlir_module, state_arguments);
  newer.known.state_count = 5;
  newer.known.diagnostic = [](void*, const ringkernel_diagnostic*) { std::abort(); };
  EXPECT_EQ(ringkernel_function_compile_mlir(runtime_, &newer.known, nullptr, &made_),
            RINGKERNEL_OK)
      << last_error();
  newer.known.text = "nonsense";
  EXPECT_EQ(ringkernel_function_compile_mlir(runtime_, &newer.known, nullptr, &made_),
            RINGKERNEL_E_invalid_argument);
}

TEST_F(MlirCapi, AnswersThatThereIsNoLibrary) {
  module_.library = "/no/such/library.so";
  ringkernel_function* const before = made_;
  EXPECT_EQ(compile(scores_text), RINGKERNEL_E_library_not_found);
  EXPECT_THAT(last_error(), HasSubstr("tried: /no/such/library.so - "));
  EXPECT_EQ(told_.size(), 1u);
  EXPECT_EQ(made_, before);
}

TEST_F(MlirCapi, RefusesNullAndNonsense) {
  module_.library = "/no/such/library.so";
  EXPECT_EQ(compile(nullptr), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), HasSubstr("module->text is null"));
  module_.state_count = 1;
  EXPECT_EQ(compile(scores_text), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), HasSubstr("module->state_arguments is null"));
  const std::size_t place = 0;
  module_.state_arguments = &place;
  EXPECT_EQ(compile(scores_text), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), HasSubstr("module->state_results is null"));
  module_.struct_size = 0;
  EXPECT_EQ(compile(scores_text), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_function_compile_mlir(runtime_, nullptr, nullptr, &made_),
            RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), HasSubstr("module is null"));
  module_.struct_size = sizeof module_;
  for (ringkernel_runtime* const none : no_handles<ringkernel_runtime>(kernel_))
    EXPECT_EQ(ringkernel_function_compile_mlir(none, &module_, nullptr, &made_),
              RINGKERNEL_E_invalid_argument);
}

}  // namespace
}  // namespace ringkernel::test
