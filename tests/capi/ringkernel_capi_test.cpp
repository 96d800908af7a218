// Ring kernels from C: what the functions do, and each of them with null and nonsense.
#include <gmock/gmock.h>

#include <array>
#include <limits>
#include <span>
#include <string>
#include <thread>

#include "capi/nonsense.hpp"
#include "capi/ringkernel_fixture.hpp"

namespace ringkernel::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(RingkernelCapi, KnowsItsVersion) {
  EXPECT_STREQ(ringkernel_version(), "0.1.0");
  EXPECT_EQ(ringkernel_abi_version(), 1u);
}

TEST_F(RingkernelCapi, FollowsTheLifecycle) {
  EXPECT_EQ(state(), RINGKERNEL_ACTIVE);
  EXPECT_EQ(ringkernel_kernel_activate(kernel_), RINGKERNEL_E_invalid_state);
  EXPECT_EQ(ringkernel_kernel_deactivate(kernel_), RINGKERNEL_OK);
  EXPECT_EQ(state(), RINGKERNEL_DEACTIVATED);
  EXPECT_EQ(ringkernel_kernel_terminate(kernel_, 1), RINGKERNEL_OK);
  EXPECT_EQ(state(), RINGKERNEL_TERMINATED);
  EXPECT_EQ(ringkernel_kernel_close(kernel_), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_kernel_close(kernel_), RINGKERNEL_E_invalid_argument);
}

TEST_F(RingkernelCapi, CallsAndDescribesTheResult) {
  const ringkernel_request sum = request("Sum", 1, "[0], true");
  ASSERT_EQ(ringkernel_call(kernel_, &sum, second_ns, &result_), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(ringkernel_last_error(), nullptr);
  EXPECT_EQ(result_.dtype, RINGKERNEL_F32);
  EXPECT_EQ(result_.rank, 2u);
  EXPECT_THAT(std::span(result_.dims, 2), ElementsAre(1, 2));
  EXPECT_EQ(result_.data_bytes, 8u);
  EXPECT_THAT(out_, ElementsAre(4, -6, 0, 0));
  result_.data_bytes = sizeof out_;
  const ringkernel_request add = request("tensor.add", 2);
  ASSERT_EQ(ringkernel_call(kernel_, &add, 0, &result_), RINGKERNEL_OK);
  EXPECT_THAT(out_, ElementsAre(2, -4, 6, -8));
  result_.data_bytes = 0;
  const ringkernel_request noop = request("noop", 0);
  ASSERT_EQ(ringkernel_call(kernel_, &noop, 0, &result_), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(result_.dtype, RINGKERNEL_NONE);
}

TEST_F(RingkernelCapi, RunsNothingForAResultWithoutRoom) {
  const ringkernel_request relu = request("relu", 1);
  result_.data_bytes = 15;
  EXPECT_EQ(ringkernel_call(kernel_, &relu, second_ns, &result_), RINGKERNEL_E_message_too_large);
  EXPECT_EQ(result_.data_bytes, 16u);
  EXPECT_THAT(last_error(), HasSubstr("f32[2, 2], 16 bytes; there is room for 15"));
  result_.data = nullptr;
  EXPECT_EQ(ringkernel_call(kernel_, &relu, second_ns, &result_), RINGKERNEL_E_message_too_large);
  EXPECT_THAT(out_, Each(0.0f));
}

TEST_F(RingkernelCapi, SendsAndReceivesInOrder) {
  std::uint64_t sent[2] = {}, received = 0;
  const ringkernel_request relu = request("relu", 1), neg = request("neg", 1);
  ASSERT_EQ(ringkernel_send(kernel_, &relu, 0, &sent[0]), RINGKERNEL_OK);
  ASSERT_EQ(ringkernel_send(kernel_, &neg, second_ns, &sent[1]), RINGKERNEL_OK);
  result_.data_bytes = 4;  // it stays until there is room
  EXPECT_EQ(ringkernel_receive(kernel_, 30 * second_ns, &result_, &received),
            RINGKERNEL_E_message_too_large);
  EXPECT_EQ(received, sent[0]);
  ASSERT_EQ(result_.data_bytes, 16u);
  ASSERT_EQ(ringkernel_receive(kernel_, 30 * second_ns, &result_, &received), RINGKERNEL_OK);
  EXPECT_EQ(received, sent[0]);
  EXPECT_THAT(out_, ElementsAre(1, 0, 3, 0));
  ASSERT_EQ(ringkernel_receive(kernel_, 30 * second_ns, &result_, nullptr), RINGKERNEL_OK);
  EXPECT_THAT(out_, ElementsAre(-1, 2, -3, 4));
  EXPECT_EQ(ringkernel_receive(kernel_, 1, &result_, &received), RINGKERNEL_E_deadline_exceeded);
  EXPECT_EQ(received, 0u);
}

TEST_F(RingkernelCapi, TakesTheLargestTimeoutForEver) {
  constexpr std::uint64_t for_ever = std::numeric_limits<std::uint64_t>::max();
  const ringkernel_request relu = request("relu", 1);
  EXPECT_EQ(ringkernel_call(kernel_, &relu, for_ever, &result_), RINGKERNEL_OK) << last_error();
  // Received while the kernel is still being activated: the receiver has to sleep.
  ASSERT_EQ(ringkernel_kernel_deactivate(kernel_), RINGKERNEL_OK);
  ASSERT_EQ(ringkernel_send(kernel_, &relu, for_ever, nullptr), RINGKERNEL_OK);
  std::thread activate([this] { EXPECT_EQ(ringkernel_kernel_activate(kernel_), RINGKERNEL_OK); });
  EXPECT_EQ(ringkernel_receive(kernel_, for_ever, &result_, nullptr), RINGKERNEL_OK)
      << last_error();
  activate.join();
}

TEST_F(RingkernelCapi, AnswersTheCodesOfTheSpecification) {
  const std::array cases{
      std::pair{request("add", 1), 2007},        std::pair{request("Sum", 1, "[2], false"), 3004},
      std::pair{request("frobnicate", 1), 6003}, std::pair{request("Index", 1, "[0, 2]"), 6001},
      std::pair{request("Sum", 1), 1001},        std::pair{request("relu", 1, "[1]"), 1001},
      std::pair{request("relu(%0", 1), 1001},    std::pair{request("", 1), 1001}};
  for (const auto& [asked, code] : cases) {
    EXPECT_EQ(ringkernel_call(kernel_, &asked, second_ns, &result_), code) << asked.op;
    EXPECT_EQ(ringkernel_send(kernel_, &asked, second_ns, nullptr), code) << asked.op;
  }
  ringkernel_runtime_options options{};
  options.struct_size = sizeof options;
  options.backend = "native";
  options.target = RINGKERNEL_TARGET_GPU;
  ringkernel_runtime* runtime = nullptr;
  EXPECT_EQ(ringkernel_runtime_open(&options, &runtime), 6002);
  EXPECT_EQ(runtime, nullptr);
}

TEST_F(RingkernelCapi, EndsHandlesWithTheRuntime) {
  ringkernel_runtime* runtime = nullptr;
  ringkernel_kernel* kernel = nullptr;
  ringkernel_runtime_options options{};
  options.struct_size = offsetof(ringkernel_runtime_options, arena_bytes);  // an older caller's
  options.backend = "native";
  options.arena_bytes = 1;  // not looked at
  ASSERT_EQ(ringkernel_runtime_open(&options, &runtime), RINGKERNEL_OK) << last_error();
  ringkernel_kernel_options kernel_options{};
  kernel_options.struct_size = sizeof kernel_options;
  kernel_options.input_bytes = kernel_options.output_bytes = 8192;
  ASSERT_EQ(ringkernel_kernel_launch(runtime, "a", &kernel_options, &kernel), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_runtime_close(runtime), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_kernel_activate(kernel), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_runtime_close(runtime), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), HasSubstr("runtime is no live handle"));
}

TEST_F(RingkernelCapi, RefusesACallOnAKernelThatNobodyActivated) {
  ringkernel_kernel* quiet = nullptr;
  ASSERT_EQ(ringkernel_kernel_launch(runtime_, "quiet", nullptr, &quiet), RINGKERNEL_OK);
  const ringkernel_request relu = request("relu", 1);
  EXPECT_EQ(ringkernel_call(quiet, &relu, 20 * second_ns, &result_), RINGKERNEL_E_invalid_state);
  EXPECT_THAT(last_error(), HasSubstr("kernel 'quiet' is launched"));
  EXPECT_EQ(ringkernel_send(quiet, &relu, second_ns, nullptr), RINGKERNEL_OK) << last_error();
}

TEST_F(RingkernelCapi, ASenderWhoseAnswersNobodyReceivesDoesNotWaitForEver) {
  ringkernel_runtime_options options{};
  options.struct_size = sizeof options;
  options.backend = "native";
  options.send_timeout_ns = 1'000'000;
  ringkernel_runtime* runtime = nullptr;
  ASSERT_EQ(ringkernel_runtime_open(&options, &runtime), RINGKERNEL_OK);
  ringkernel_kernel_options small{};
  small.struct_size = sizeof small;
  small.in_flight_max = 1;
  ringkernel_kernel* kernel = nullptr;
  ASSERT_EQ(ringkernel_kernel_launch(runtime, "a", &small, &kernel), RINGKERNEL_OK);
  ASSERT_EQ(ringkernel_kernel_activate(kernel), RINGKERNEL_OK);
  const ringkernel_request relu = request("relu", 1);
  ASSERT_EQ(ringkernel_send(kernel, &relu, 0, nullptr), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(ringkernel_send(kernel, &relu, 0, nullptr), RINGKERNEL_E_queue_full);
  EXPECT_EQ(ringkernel_runtime_close(runtime), RINGKERNEL_OK);
}

/// As in mind_runtime.h: with the op, or in a text of their own.
TEST_F(RingkernelCapi, TakesAttributesInEitherForm) {
  const ringkernel_request apart = request("Sum", 1, "[0], false");
  ASSERT_EQ(ringkernel_call(kernel_, &apart, 0, &result_), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(out_, ElementsAre(4, -6, 0, 0));
  out_ = {};
  result_.data_bytes = sizeof out_;
  const ringkernel_request together = request("Sum(%0, [0], false)", 1);
  ASSERT_EQ(ringkernel_call(kernel_, &together, 0, &result_), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(out_, ElementsAre(4, -6, 0, 0));
  result_.data_bytes = sizeof out_;
  const ringkernel_request swapped = request("Sub(%1, %0)", 2);
  ASSERT_EQ(ringkernel_call(kernel_, &swapped, 0, &result_), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(out_, ElementsAre(0, 0, 0, 0));
  const ringkernel_request twice = request("Sum(%0, [0], false)", 1, "[0], false");
  const ringkernel_request unnamed = request("Relu(%0)", 2);
  const ringkernel_request unknown = request("Relu(%7)", 1);
  EXPECT_EQ(ringkernel_call(kernel_, &twice, 0, &result_), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_call(kernel_, &unnamed, 0, &result_), 2007);
  EXPECT_EQ(ringkernel_call(kernel_, &unknown, 0, &result_), RINGKERNEL_E_invalid_argument);
}

TEST_F(RingkernelCapi, SaysWhatIsTooSmallOfAResultThatDoesNotFit) {
  const ringkernel_request relu = request("relu", 1);
  result_.data_bytes = 15;
  ASSERT_EQ(ringkernel_call(kernel_, &relu, 0, &result_), RINGKERNEL_E_message_too_large);
  EXPECT_THAT(last_error(), HasSubstr("larger than the room for it"));
  EXPECT_THAT(last_error(), HasSubstr("16 bytes; there is room for 15"));
  EXPECT_EQ(last_error().find("ring takes"), std::string::npos);
}

TEST_F(RingkernelCapi, RefusesReservedFields) {
  ringkernel_runtime_options options{};
  options.struct_size = sizeof options;
  options.reserved = 1;
  ringkernel_runtime* runtime = nullptr;
  EXPECT_EQ(ringkernel_runtime_open(&options, &runtime), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), HasSubstr("reserved is 1"));
}

class RingkernelCapiBytes : public RingkernelCapi {
 protected:
  RingkernelCapiBytes() {
    ringkernel_kernel_options options{};
    options.struct_size = sizeof options;
    options.program = "echo";
    EXPECT_EQ(ringkernel_kernel_launch(runtime_, "echo", &options, &echo_), RINGKERNEL_OK)
        << last_error();
    EXPECT_EQ(ringkernel_kernel_activate(echo_), RINGKERNEL_OK);
  }

  static ringkernel_bytes bytes(std::string& text) { return {text.data(), text.size()}; }

  ringkernel_kernel* echo_ = nullptr;
  std::string text_ = "seven b";
  std::string other_ = "others";
  std::string back_ = std::string(16, '.');
  ringkernel_bytes message_ = bytes(text_);
  ringkernel_bytes reply_ = bytes(back_);
};

TEST_F(RingkernelCapiBytes, CallsWithBytes) {
  ASSERT_EQ(ringkernel_call_bytes(echo_, &message_, second_ns, &reply_), RINGKERNEL_OK)
      << last_error();
  EXPECT_EQ(reply_.data_bytes, 7u);
  EXPECT_EQ(back_, "seven b.........");
  const ringkernel_bytes nothing{};
  reply_ = {};
  ASSERT_EQ(ringkernel_call_bytes(echo_, &nothing, 0, &reply_), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(reply_.data_bytes, 0u);
}

TEST_F(RingkernelCapiBytes, SendsNothingForAReplyWithoutRoom) {
  ASSERT_EQ(ringkernel_kernel_deactivate(echo_), RINGKERNEL_OK);  // a call would find no answer
  reply_.data_bytes = 6;
  EXPECT_EQ(ringkernel_call_bytes(echo_, &message_, second_ns, &reply_),
            RINGKERNEL_E_message_too_large);
  EXPECT_EQ(reply_.data_bytes, 7u);
  EXPECT_THAT(last_error(), HasSubstr("7 bytes; there is room for 6"));
  reply_ = {nullptr, 16};
  EXPECT_EQ(ringkernel_call_bytes(echo_, &message_, second_ns, &reply_),
            RINGKERNEL_E_message_too_large);
  EXPECT_EQ(reply_.data_bytes, 7u);
  EXPECT_EQ(back_, std::string(16, '.'));
}

TEST_F(RingkernelCapiBytes, SendsAndReceivesInOrder) {
  std::uint64_t sent[2] = {}, received = 0;
  const ringkernel_bytes other = bytes(other_);
  ASSERT_EQ(ringkernel_send_bytes(echo_, &message_, 0, &sent[0]), RINGKERNEL_OK) << last_error();
  ASSERT_EQ(ringkernel_send_bytes(echo_, &other, second_ns, &sent[1]), RINGKERNEL_OK);
  reply_.data_bytes = 6;  // it stays until there is room
  EXPECT_EQ(ringkernel_receive_bytes(echo_, 30 * second_ns, &reply_, &received),
            RINGKERNEL_E_message_too_large);
  EXPECT_EQ(received, sent[0]);
  ASSERT_EQ(reply_.data_bytes, 7u);
  ASSERT_EQ(ringkernel_receive_bytes(echo_, 30 * second_ns, &reply_, &received), RINGKERNEL_OK);
  EXPECT_EQ(received, sent[0]);
  EXPECT_EQ(back_, "seven b.........");
  ASSERT_EQ(ringkernel_receive_bytes(echo_, 30 * second_ns, &reply_, &received), RINGKERNEL_OK);
  EXPECT_EQ(received, sent[1]);
  EXPECT_EQ(reply_.data_bytes, 6u);
  EXPECT_EQ(back_, "othersb.........");
  EXPECT_EQ(ringkernel_receive_bytes(echo_, 1, &reply_, &received), RINGKERNEL_E_deadline_exceeded);
  EXPECT_EQ(received, 0u);
}

/// The outcomes of the other kind stay for the function that can take them.
TEST_F(RingkernelCapiBytes, LeavesEachProgramItsKindOfMessages) {
  const ringkernel_request relu = request("relu", 1);
  ASSERT_EQ(ringkernel_send_bytes(echo_, &message_, 0, nullptr), RINGKERNEL_OK);
  ASSERT_EQ(ringkernel_send(kernel_, &relu, 0, nullptr), RINGKERNEL_OK);
  const ringkernel_status statuses[] = {
      ringkernel_call(echo_, &relu, second_ns, &result_),
      ringkernel_send(echo_, &relu, second_ns, nullptr),
      ringkernel_receive(echo_, second_ns, &result_, nullptr),
      ringkernel_call_bytes(kernel_, &message_, second_ns, &reply_),
      ringkernel_send_bytes(kernel_, &message_, second_ns, nullptr),
      ringkernel_receive_bytes(kernel_, second_ns, &reply_, nullptr),
  };
  EXPECT_THAT(statuses, Each(RINGKERNEL_E_unsupported_operation));
  EXPECT_EQ(ringkernel_receive_bytes(echo_, 30 * second_ns, &reply_, nullptr), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_receive(kernel_, 30 * second_ns, &result_, nullptr), RINGKERNEL_OK);
}

TEST_F(RingkernelCapiBytes, KnowsItsProgramsAndOlderCallers) {
  ringkernel_kernel* made = nullptr;
  ringkernel_kernel_options options{};
  options.struct_size = sizeof options;
  options.program = "nobody";
  EXPECT_EQ(ringkernel_kernel_launch(runtime_, "a", &options, &made),
            RINGKERNEL_E_program_not_found);
  EXPECT_EQ(made, nullptr);
  options.struct_size = offsetof(ringkernel_kernel_options, program);  // an older caller's
  ASSERT_EQ(ringkernel_kernel_launch(runtime_, "a", &options, &made), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_send_bytes(made, &message_, 0, nullptr), RINGKERNEL_E_unsupported_operation)
      << "core";
}

TEST_F(RingkernelCapiBytes, RefusesNullAndNonsense) {
  const ringkernel_bytes no_data{nullptr, 7};
  const ringkernel_bytes huge{text_.data(), std::numeric_limits<std::uint64_t>::max()};
  std::string long_text(1 << 20, 'x');
  const ringkernel_bytes too_long = bytes(long_text);
  const std::pair<ringkernel_status, int> answers[] = {
      {ringkernel_call_bytes(echo_, nullptr, second_ns, &reply_), 1001},
      {ringkernel_call_bytes(echo_, &message_, second_ns, nullptr), 1001},
      {ringkernel_call_bytes(echo_, &no_data, second_ns, &reply_), 1001},
      {ringkernel_call_bytes(echo_, &huge, 0, &reply_), RINGKERNEL_E_message_too_large},
      {ringkernel_send_bytes(echo_, nullptr, second_ns, nullptr), 1001},
      {ringkernel_send_bytes(echo_, &no_data, second_ns, nullptr), 1001},
      {ringkernel_send_bytes(echo_, &huge, 0, nullptr), RINGKERNEL_E_message_too_large},
      {ringkernel_send_bytes(echo_, &too_long, 0, nullptr), RINGKERNEL_E_message_too_large},
      {ringkernel_receive_bytes(echo_, 1, nullptr, nullptr), 1001},
  };
  for (std::size_t i = 0; i < std::size(answers); ++i)
    EXPECT_EQ(answers[i].first, answers[i].second) << "answer " << i;
  for (ringkernel_kernel* const none : no_handles<ringkernel_kernel>(runtime_)) {
    const ringkernel_status statuses[] = {
        ringkernel_call_bytes(none, &message_, second_ns, &reply_),
        ringkernel_send_bytes(none, &message_, second_ns, nullptr),
        ringkernel_receive_bytes(none, 1, &reply_, nullptr),
    };
    EXPECT_THAT(statuses, Each(RINGKERNEL_E_invalid_argument)) << none;
  }
}

TEST_F(RingkernelCapi, RefusesWhatIsNoHandle) {
  const ringkernel_request relu = request("relu", 1);
  ringkernel_kernel* made = nullptr;
  std::int32_t state = 0;
  for (ringkernel_runtime* const none : no_handles<ringkernel_runtime>(kernel_)) {
    EXPECT_EQ(ringkernel_runtime_close(none), RINGKERNEL_E_invalid_argument);
    EXPECT_EQ(ringkernel_kernel_launch(none, "a", nullptr, &made), RINGKERNEL_E_invalid_argument);
  }
  for (ringkernel_kernel* const none : no_handles<ringkernel_kernel>(runtime_)) {
    const ringkernel_status statuses[] = {
        ringkernel_kernel_activate(none),
        ringkernel_kernel_deactivate(none),
        ringkernel_kernel_terminate(none, 0),
        ringkernel_kernel_state(none, &state),
        ringkernel_kernel_close(none),
        ringkernel_call(none, &relu, second_ns, &result_),
        ringkernel_send(none, &relu, second_ns, nullptr),
        ringkernel_receive(none, 1, &result_, nullptr),
    };
    EXPECT_THAT(statuses, Each(RINGKERNEL_E_invalid_argument)) << none;
    EXPECT_THAT(last_error(), HasSubstr("kernel is n"));
  }
  EXPECT_EQ(made, nullptr);
}

TEST_F(RingkernelCapi, RefusesNullAndNonsense) {
  const ringkernel_request relu = request("relu", 1);
  ringkernel_kernel* made = nullptr;
  ringkernel_runtime* runtime = nullptr;
  ringkernel_runtime_options bad_size{}, bad_target{};
  bad_size.struct_size = 3;
  bad_target.struct_size = sizeof bad_target;
  bad_target.target = 9;
  ringkernel_kernel_options bad_ring{}, huge{};
  bad_ring.struct_size = sizeof bad_ring;
  bad_ring.input_bytes = 1000;
  huge.struct_size = std::numeric_limits<std::size_t>::max();
  const std::string long_id(200, 'x');
  ringkernel_request no_size = relu, no_op = relu, no_inputs = relu, many = relu;
  no_size.struct_size = 0;
  no_op.op = nullptr;
  no_inputs.inputs = nullptr;
  many.input_count = std::numeric_limits<std::size_t>::max();
  const std::pair<ringkernel_status, int> answers[] = {
      {ringkernel_runtime_open(nullptr, nullptr), 1001},
      {ringkernel_runtime_open(&bad_size, &runtime), 1001},
      {ringkernel_runtime_open(&bad_target, &runtime), 1001},
      {ringkernel_kernel_launch(runtime_, nullptr, nullptr, &made), 1001},
      {ringkernel_kernel_launch(runtime_, "", nullptr, &made), 1001},
      {ringkernel_kernel_launch(runtime_, long_id.c_str(), nullptr, &made), 1001},
      {ringkernel_kernel_launch(runtime_, "a", nullptr, nullptr), 1001},
      {ringkernel_kernel_launch(runtime_, "a", &bad_ring, &made), 1001},
      {ringkernel_kernel_launch(runtime_, "a", &huge, &made), 1001},
      {ringkernel_kernel_launch(runtime_, "worker", nullptr, &made), 1004},
      {ringkernel_kernel_state(kernel_, nullptr), 1001},
      {ringkernel_call(kernel_, nullptr, second_ns, &result_), 1001},
      {ringkernel_call(kernel_, &relu, second_ns, nullptr), 1001},
      {ringkernel_call(kernel_, &no_size, second_ns, &result_), 1001},
      {ringkernel_call(kernel_, &no_op, second_ns, &result_), 1001},
      {ringkernel_call(kernel_, &no_inputs, second_ns, &result_), 1001},
      {ringkernel_call(kernel_, &many, second_ns, &result_), 2007},
      {ringkernel_send(kernel_, nullptr, second_ns, nullptr), 1001},
      {ringkernel_send(kernel_, &no_op, second_ns, nullptr), 1001},
      {ringkernel_receive(kernel_, 1, nullptr, nullptr), 1001},
  };
  for (std::size_t i = 0; i < std::size(answers); ++i)
    EXPECT_EQ(answers[i].first, answers[i].second) << "answer " << i;
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(runtime, nullptr);
}

TEST_F(RingkernelCapi, RefusesTensorsThatMakeNoSense) {
  const auto answer = [&](auto change) {
    inputs_[0] = tensor(elements_, {2, 2});
    change(inputs_[0]);
    const ringkernel_request relu = request("relu", 1);
    return ringkernel_call(kernel_, &relu, second_ns, &result_);
  };
  using Tensor = ringkernel_tensor&;
  EXPECT_EQ(answer([](Tensor t) { t.dtype = RINGKERNEL_NONE; }), 1001);
  EXPECT_EQ(answer([](Tensor t) { t.dtype = 77; }), 1001);
  EXPECT_EQ(answer([](Tensor t) { t.dtype = RINGKERNEL_I32; }), 2005);
  EXPECT_EQ(answer([](Tensor t) { t.rank = 9; }), 3002);
  EXPECT_EQ(answer([](Tensor t) { t.dims[0] = 0; }), 3006);
  EXPECT_EQ(answer([](Tensor t) { t.dims[0] = -2; }), 3006);
  EXPECT_EQ(answer([](Tensor t) { t.dims[0] = t.dims[1] = 1ll << 40; }), 6004);
  EXPECT_EQ(answer([](Tensor t) { t.dims[0] = 3; }), 3007);
  EXPECT_EQ(answer([](Tensor t) { t.data_bytes = 15; }), 3007);
  EXPECT_EQ(answer([](Tensor t) { t.data = nullptr; }), 1001);
  EXPECT_EQ(answer([](Tensor) {}), 0) << last_error();
}

}  // namespace
}  // namespace ringkernel::test
