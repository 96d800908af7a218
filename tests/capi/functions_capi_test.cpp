// Functions from C: what they give, their states, and nonsense.
#include <gmock/gmock.h>

#include <array>
#include <limits>
#include <span>
#include <vector>

#include "capi/nonsense.hpp"
#include "capi/ringkernel_fixture.hpp"
#include "unit/onnx/file_writer.hpp"

namespace ringkernel::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* scores_text = R"(
%x = Input() {name: "image"} : Tensor<f32, [1, 2]>
%y = Input() {name: "bias"} : Tensor<f32, [1, 2]>
%w = ConstTensor([[1, 2], [3, 4]]) : Tensor<f32, [2, 2]>
%0 = MatMul(%x, %w) : Tensor<f32, [1, 2]>
%1 = Add(%0, %y) {name: "sum"} : Tensor<f32, [1, 2]>
%2 = Relu(%1) : Tensor<f32, [1, 2]>
outputs: %1, %2
)";

class FunctionsCapi : public ResidentsCapi {
 protected:
  FunctionsCapi() {
    EXPECT_EQ(ringkernel_function_compile_text(runtime_, "scores", scores_text, nullptr, &scores_),
              RINGKERNEL_OK)
        << last_error();
    operands_ = {tensor(x_, {1, 2}), tensor(bias_, {1, 2})};
    results_ = {tensor(sum_, {}), tensor(relu_, {})};
  }
  ringkernel_execution execution() {
    return {.struct_size = sizeof(ringkernel_execution),
            .inputs = operands_.data(),
            .input_count = 2,
            .results = results_.data(),
            .result_count = 2,
            .residents = nullptr,
            .into = nullptr,
            .timeout_ns = 0,
            .priority = 0,
            .check_nan = 0};
  }

  ringkernel_function* scores_ = nullptr;
  std::array<float, 2> x_{1, 2}, bias_{-10, 10}, sum_{}, relu_{};
  std::array<ringkernel_tensor, 2> operands_{}, results_{};
};

TEST_F(FunctionsCapi, RunAGraphInOneMessage) {
  const ringkernel_execution asked = execution();
  ASSERT_EQ(ringkernel_function_execute(scores_, &asked), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(sum_, ElementsAre(-3, 20));
  EXPECT_THAT(relu_, ElementsAre(0, 20));
  EXPECT_EQ(results_[1].rank, 2u);
  EXPECT_THAT(std::span(results_[1].dims, 2), ElementsAre(1, 2));
  EXPECT_EQ(results_[1].data_bytes, 8u);
  ASSERT_EQ(ringkernel_function_close(scores_), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_function_execute(scores_, &asked), RINGKERNEL_E_invalid_argument);
}

TEST_F(FunctionsCapi, DescribeThemselves) {
  ringkernel_signature signature{};
  signature.struct_size = sizeof signature;
  ASSERT_EQ(ringkernel_function_signature(scores_, &signature), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(signature.inputs, 2u);
  EXPECT_EQ(signature.outputs, 2u);
  EXPECT_EQ(signature.states, 0u);
  EXPECT_GT(signature.commands, 0u);
  EXPECT_GT(signature.arena_bytes, 0u);
  EXPECT_EQ(signature.struct_size, sizeof signature);
  ringkernel_tensor described{};
  const char* name = nullptr;
  ASSERT_EQ(ringkernel_function_describe(scores_, RINGKERNEL_INPUT, 1, &described, &name),
            RINGKERNEL_OK);
  EXPECT_STREQ(name, "bias");
  EXPECT_EQ(described.dtype, RINGKERNEL_F32);
  EXPECT_EQ(described.rank, 2u);
  EXPECT_EQ(described.data_bytes, 8u);
  ASSERT_EQ(ringkernel_function_describe(scores_, RINGKERNEL_OUTPUT, 0, &described, &name),
            RINGKERNEL_OK);
  EXPECT_STREQ(name, "sum");
  ASSERT_EQ(ringkernel_function_describe(scores_, RINGKERNEL_OUTPUT, 1, &described, &name),
            RINGKERNEL_OK);
  EXPECT_STREQ(name, "");
  EXPECT_EQ(ringkernel_function_describe(scores_, RINGKERNEL_STATE, 0, &described, nullptr), 1001);
  EXPECT_THAT(last_error(), HasSubstr("'scores' has 0 of these"));
  EXPECT_EQ(ringkernel_function_describe(scores_, 3, 0, &described, nullptr), 1001);
  EXPECT_EQ(ringkernel_function_describe(scores_, 0, 0, nullptr, nullptr), 1001);
}

/// A library writes as much as its caller knows, and zeros where the caller knows more.
TEST_F(FunctionsCapi, DescribeThemselvesToOlderAndNewerCallers) {
  struct Newer {
    ringkernel_signature known;
    std::uint64_t unknown;
  } newer{};
  newer.unknown = newer.known.inputs = newer.known.outputs = 7;
  newer.known.struct_size = offsetof(ringkernel_signature, outputs);
  ASSERT_EQ(ringkernel_function_signature(scores_, &newer.known), RINGKERNEL_OK);
  EXPECT_EQ(newer.known.inputs, 2u);
  EXPECT_EQ(newer.known.outputs, 7u);
  newer.known.struct_size = sizeof newer;
  ASSERT_EQ(ringkernel_function_signature(scores_, &newer.known), RINGKERNEL_OK);
  EXPECT_EQ(newer.known.outputs, 2u);
  EXPECT_EQ(newer.unknown, 0u);
  EXPECT_EQ(newer.known.struct_size, sizeof newer);
  newer.known.struct_size = 0;
  EXPECT_EQ(ringkernel_function_signature(scores_, &newer.known), 1001);
  EXPECT_EQ(ringkernel_function_signature(scores_, nullptr), 1001);
}

TEST_F(FunctionsCapi, TakeAndGiveTensorsOnTheDevice) {
  std::array<float, 2> other{100, 100};
  ringkernel_resident* const bias = resident(bias_, {1, 2});
  ringkernel_resident* const sum = resident(other, {1, 2});
  const std::array<ringkernel_resident*, 2> residents{nullptr, bias}, into{sum, nullptr};
  ringkernel_execution asked = execution();
  asked.residents = residents.data();
  asked.into = into.data();
  operands_[1] = {};
  results_[0] = {};  // neither is looked at
  ASSERT_EQ(ringkernel_function_execute(scores_, &asked), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(sum_, Each(0.0f));
  EXPECT_THAT(relu_, ElementsAre(0, 20));
  ringkernel_tensor result = tensor(other, {});
  ASSERT_EQ(ringkernel_resident_read(sum, 0, &result), RINGKERNEL_OK);
  EXPECT_THAT(other, ElementsAre(-3, 20));
  const std::array<ringkernel_resident*, 2> both{sum, bias};  // nothing comes back
  asked.into = both.data();
  asked.residents = nullptr;
  operands_[1] = tensor(bias_, {1, 2});
  asked.results = nullptr;
  ASSERT_EQ(ringkernel_function_execute(scores_, &asked), RINGKERNEL_OK) << last_error();
  ASSERT_EQ(ringkernel_resident_read(bias, 0, &result), RINGKERNEL_OK);
  EXPECT_THAT(other, ElementsAre(0, 20));
  const std::array<ringkernel_resident*, 2> twice{sum, sum};
  asked.into = twice.data();
  EXPECT_EQ(ringkernel_function_execute(scores_, &asked), RINGKERNEL_E_invalid_argument);
}

TEST_F(FunctionsCapi, RunNothingForResultsWithoutRoom) {
  const ringkernel_execution asked = execution();
  results_[0].data_bytes = 100;
  results_[1].data_bytes = 7;
  EXPECT_EQ(ringkernel_function_execute(scores_, &asked), RINGKERNEL_E_message_too_large);
  EXPECT_EQ(results_[0].data_bytes, 8u);
  EXPECT_EQ(results_[1].data_bytes, 8u);
  EXPECT_THAT(last_error(), HasSubstr("f32[1, 2], 8 bytes; there is room for 7"));
  EXPECT_THAT(sum_, Each(0.0f));
}

TEST_F(FunctionsCapi, LookForWhatIsNoNumber) {
  ringkernel_execution asked = execution();
  x_[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(ringkernel_function_execute(scores_, &asked), RINGKERNEL_OK) << last_error();
  asked.check_nan = 1;
  EXPECT_EQ(ringkernel_function_execute(scores_, &asked), RINGKERNEL_E_not_a_number);
}

TEST_F(FunctionsCapi, ArePreparedToo) {
  ringkernel_prepared* prepared = nullptr;
  ASSERT_EQ(ringkernel_function_prepare(scores_, &prepared), RINGKERNEL_OK) << last_error();
  ASSERT_EQ(ringkernel_function_close(scores_), RINGKERNEL_OK);  // it holds the function
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(
        ringkernel_prepared_call(prepared, operands_.data(), 2, second_ns, results_.data(), 2),
        RINGKERNEL_OK)
        << last_error();
  EXPECT_THAT(sum_, ElementsAre(-3, 20));
  EXPECT_THAT(relu_, ElementsAre(0, 20));
  results_[0].data_bytes = 100;
  results_[1].data_bytes = 7;
  EXPECT_EQ(ringkernel_prepared_call(prepared, operands_.data(), 2, 0, results_.data(), 2),
            RINGKERNEL_E_message_too_large);
  EXPECT_EQ(results_[0].data_bytes, 8u);
  EXPECT_EQ(results_[1].data_bytes, 8u);
  EXPECT_EQ(ringkernel_prepared_call(prepared, operands_.data(), 1, 0, results_.data(), 2), 2007);
}

TEST_F(FunctionsCapi, AnswerTheErrorsOfText) {
  ringkernel_function* made = nullptr;
  const auto answer = [&](const char* text) {
    return ringkernel_function_compile_text(runtime_, "wrong", text, nullptr, &made);
  };
  EXPECT_EQ(answer("%0 = Relu(%1) : Tensor<f32, [2]>\noutputs: %0\n"), 4001);
  EXPECT_THAT(last_error(), HasSubstr("line 1"));
  EXPECT_EQ(answer("nonsense"), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(answer(nullptr), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_function_compile_text(runtime_, nullptr, scores_text, nullptr, &made), 1001);
  EXPECT_EQ(ringkernel_function_compile_text(runtime_, "s", scores_text, nullptr, nullptr), 1001);
  ringkernel_function_options options{};
  EXPECT_EQ(ringkernel_function_compile_text(runtime_, "s", scores_text, &options, &made), 1001);
  EXPECT_EQ(made, nullptr);
  options.struct_size = sizeof options;
  options.message_bytes_max = 4;
  ASSERT_EQ(ringkernel_function_compile_text(runtime_, "s", scores_text, &options, &made), 0)
      << last_error();
  const ringkernel_execution asked = execution();
  EXPECT_EQ(ringkernel_function_execute(made, &asked), RINGKERNEL_E_message_too_large);
}

TEST_F(FunctionsCapi, RefuseNullAndNonsense) {
  const auto answer = [&](auto change) {
    ringkernel_execution asked = execution();
    change(asked);
    return ringkernel_function_execute(scores_, &asked);
  };
  using Asked = ringkernel_execution&;
  EXPECT_EQ(ringkernel_function_execute(scores_, nullptr), 1001);
  EXPECT_EQ(answer([](Asked asked) { asked.struct_size = 0; }), 1001);
  EXPECT_EQ(answer([](Asked asked) { asked.inputs = nullptr; }), 1001);
  EXPECT_EQ(answer([](Asked asked) { asked.results = nullptr; }), 1001);
  EXPECT_EQ(answer([](Asked asked) { asked.input_count = 1; }), 2007);
  EXPECT_THAT(last_error(), HasSubstr("'scores' has 2 inputs, not 1"));
  EXPECT_EQ(answer([](Asked asked) { asked.result_count = std::size_t(-1); }), 2007);
  operands_[0] = tensor(elements_, {2, 2});
  EXPECT_EQ(answer([](Asked) {}), 3003);
  operands_[0] = tensor(x_, {2});  // a vector is a row
  EXPECT_EQ(answer([](Asked) {}), RINGKERNEL_OK) << last_error();
  const ringkernel_execution asked = execution();
  ringkernel_function* made = nullptr;
  ringkernel_prepared* prepared = nullptr;
  ringkernel_signature signature{};
  for (ringkernel_function* const none : no_handles<ringkernel_function>(kernel_)) {
    const ringkernel_status statuses[] = {
        ringkernel_function_execute(none, &asked),
        ringkernel_function_signature(none, &signature),
        ringkernel_function_describe(none, 0, 0, &result_, nullptr),
        ringkernel_function_prepare(none, &prepared),
        ringkernel_function_instance(none, nullptr, &made),
        ringkernel_function_read_state(none, 0, 0, &result_),
        ringkernel_function_write_state(none, 0, &result_, 0),
        ringkernel_function_reset_states(none, 0),
        ringkernel_function_close(none),
    };
    EXPECT_THAT(statuses, Each(RINGKERNEL_E_invalid_argument)) << none;
  }
  EXPECT_EQ(ringkernel_function_prepare(scores_, nullptr), 1001);
  EXPECT_EQ(ringkernel_function_instance(scores_, nullptr, nullptr), 1001);
  for (ringkernel_runtime* const none : no_handles<ringkernel_runtime>(kernel_))
    EXPECT_EQ(ringkernel_function_compile_text(none, "s", scores_text, nullptr, &made),
              RINGKERNEL_E_invalid_argument);
  ASSERT_EQ(ringkernel_runtime_close(runtime_), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_function_close(scores_), RINGKERNEL_E_invalid_argument);
}

/// h' = x + h, and y = relu(h'): h stays on the device.
class StatesCapi : public ResidentsCapi {
 protected:
  StatesCapi() {
    using namespace onnx::test;
    file_ = file(Message()
                     .message(1, node("Add", {"x", "h"}, "hn"))
                     .message(1, node("Relu", {"hn"}, "y"))
                     .message(11, info("x", {-1}))
                     .message(11, info("h", {2}))
                     .message(12, info("y", {2}))
                     .message(12, info("hn", {2})));
    input_.name = "x";
    input_.rank = 1;
    input_.dims[0] = 2;
    model_.struct_size = sizeof model_;
    model_.data = file_.data();
    model_.data_bytes = file_.size();
    model_.name = "sum";
    model_.inputs = &input_;
    model_.input_count = 1;
    model_.state_inputs = &kept_;
    model_.state_outputs = &next_;
    model_.state_count = 1;
  }
  ringkernel_function* compile() {
    ringkernel_function* made = nullptr;
    EXPECT_EQ(ringkernel_function_compile_onnx(runtime_, &model_, nullptr, &made), RINGKERNEL_OK)
        << last_error();
    return made;
  }
  std::array<float, 2> execute(ringkernel_function* function, std::array<float, 2> x) {
    std::array<float, 2> y{};
    const ringkernel_tensor operand = tensor(x, {2});
    ringkernel_tensor result = tensor(y, {});
    ringkernel_execution asked{};
    asked.struct_size = sizeof asked;
    asked.inputs = &operand;
    asked.results = &result;
    asked.input_count = asked.result_count = 1;
    EXPECT_EQ(ringkernel_function_execute(function, &asked), RINGKERNEL_OK) << last_error();
    return y;
  }
  ringkernel_status compile_status() {
    ringkernel_function* made = nullptr;
    return ringkernel_function_compile_onnx(runtime_, &model_, nullptr, &made);
  }

  std::vector<std::byte> file_;
  ringkernel_onnx_input input_{};
  const char* kept_ = "h";
  const char* next_ = "hn";
  ringkernel_onnx_model model_{};
};

TEST_F(StatesCapi, AreKeptByEachInstance) {
  ringkernel_function* const first = compile();
  EXPECT_THAT(execute(first, {1, -1}), ElementsAre(1, 0));
  EXPECT_THAT(execute(first, {1, -1}), ElementsAre(2, 0));
  ringkernel_function* second = nullptr;
  ASSERT_EQ(ringkernel_function_instance(first, nullptr, &second), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(execute(second, {5, 5}), ElementsAre(5, 5));
  ringkernel_tensor described{};
  const char* name = nullptr;
  ASSERT_EQ(ringkernel_function_describe(first, RINGKERNEL_STATE, 0, &described, &name), 0);
  EXPECT_STREQ(name, "h");
  std::array<float, 2> state{};
  described.data = state.data();
  ASSERT_EQ(ringkernel_function_read_state(first, 0, 0, &described), RINGKERNEL_OK);
  EXPECT_THAT(state, ElementsAre(2, -2));
  ASSERT_EQ(ringkernel_function_write_state(second, 0, &described, second_ns), RINGKERNEL_OK);
  EXPECT_THAT(execute(second, {0, 3}), ElementsAre(2, 1));
  ASSERT_EQ(ringkernel_function_reset_states(second, 0), RINGKERNEL_OK);
  EXPECT_THAT(execute(second, {0, 3}), ElementsAre(0, 3));
  EXPECT_EQ(ringkernel_function_close(first), RINGKERNEL_OK);
  EXPECT_THAT(execute(second, {0, 3}), ElementsAre(0, 6));
}

TEST_F(StatesCapi, RefuseOthers) {
  ringkernel_function* const function = compile();
  std::array<float, 2> elements{};
  ringkernel_tensor state = tensor(elements, {2});
  EXPECT_EQ(ringkernel_function_read_state(function, 1, 0, &state), 1001);
  EXPECT_EQ(ringkernel_function_write_state(function, 1, &state, 0), 1001);
  EXPECT_EQ(ringkernel_function_read_state(function, 0, 0, nullptr), 1001);
  EXPECT_EQ(ringkernel_function_write_state(function, 0, nullptr, 0), 1001);
  state.dtype = RINGKERNEL_I32;
  EXPECT_EQ(ringkernel_function_write_state(function, 0, &state, 0), 2004);
  state = tensor(std::span(elements).first(1), {1});
  EXPECT_EQ(ringkernel_function_write_state(function, 0, &state, 0), 3007);
  EXPECT_EQ(ringkernel_function_read_state(function, 0, 0, &state), RINGKERNEL_E_message_too_large);
  EXPECT_EQ(state.data_bytes, 8u);
}

TEST_F(StatesCapi, AnswerTheErrorsOfModels) {
  kept_ = "c";
  EXPECT_EQ(compile_status(), 1001);
  EXPECT_THAT(last_error(), HasSubstr("the model has no input 'c'; it has 'x', 'h'"));
  kept_ = nullptr;
  EXPECT_EQ(compile_status(), 1001);
  model_.state_count = 0;
  const char* const wanted[] = {"hn", nullptr};
  model_.outputs = wanted;
  model_.output_count = 2;
  EXPECT_EQ(compile_status(), 1001);
  model_.output_count = 1;
  EXPECT_EQ(compile_status(), RINGKERNEL_OK) << last_error();
  input_.rank = 9;
  EXPECT_EQ(compile_status(), 3002);
  input_.rank = 1;
  input_.reserved = 1;
  EXPECT_EQ(compile_status(), 1001);
  input_.name = nullptr;
  EXPECT_EQ(compile_status(), 1001);
  model_.inputs = nullptr;
  EXPECT_EQ(compile_status(), 1001);
  model_.input_count = 0;
  EXPECT_EQ(compile_status(), 1001) << "an extent is open";
  model_.data_bytes = 5;
  EXPECT_NE(compile_status(), RINGKERNEL_OK);
  model_.data = nullptr;
  EXPECT_EQ(compile_status(), 1001);
  model_.file = "no such file.onnx";
  EXPECT_EQ(compile_status(), 1001);
  EXPECT_THAT(last_error(), HasSubstr("no such file.onnx"));
  EXPECT_EQ(ringkernel_function_compile_onnx(runtime_, nullptr, nullptr, nullptr), 1001);
}

}  // namespace
}  // namespace ringkernel::test
