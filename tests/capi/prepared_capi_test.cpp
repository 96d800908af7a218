// Prepared calls from C: what they give, that they are cheap to refuse, and nonsense.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <limits>
#include <span>
#include <thread>

#include "capi/nonsense.hpp"
#include "capi/ringkernel_fixture.hpp"

namespace ringkernel::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PreparedCapi : public RingkernelCapi {
 protected:
  ringkernel_prepared* prepare(const ringkernel_request& asked) {
    ringkernel_prepared* prepared = nullptr;
    EXPECT_EQ(ringkernel_kernel_prepare(kernel_, &asked, &prepared), RINGKERNEL_OK) << last_error();
    return prepared;
  }
  ringkernel_status call(ringkernel_prepared* prepared, std::size_t inputs) {
    return ringkernel_prepared_call(prepared, inputs_.data(), inputs, 0, &result_, 1);
  }
};

TEST_F(PreparedCapi, CallsWithOtherElementsEachTime) {
  // Elements are not looked at before a call brings them.
  inputs_[0].data = inputs_[1].data = nullptr;
  inputs_[0].data_bytes = inputs_[1].data_bytes = 0;
  ringkernel_prepared* const add = prepare(request("add", 2));
  std::array<float, 4> ones{1, 1, 1, 1};
  inputs_[0] = tensor(elements_, {2, 2});
  inputs_[1] = tensor(ones, {4});  // of inputs only their elements count
  ASSERT_EQ(call(add, 2), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(ringkernel_last_error(), nullptr);
  EXPECT_EQ(result_.dtype, RINGKERNEL_F32);
  EXPECT_EQ(result_.rank, 2u);
  EXPECT_THAT(std::span(result_.dims, 2), ElementsAre(2, 2));
  EXPECT_EQ(result_.data_bytes, 16u);
  EXPECT_THAT(out_, ElementsAre(2, -1, 4, -3));
  inputs_[0] = tensor(out_, {2, 2});  // the result goes where an input is
  ASSERT_EQ(call(add, 2), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(out_, ElementsAre(3, 0, 5, -2));
  EXPECT_EQ(ringkernel_prepared_close(add), RINGKERNEL_OK);
  EXPECT_EQ(call(add, 2), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), HasSubstr("prepared is no live handle"));
}

TEST_F(PreparedCapi, TakesItsInputsInTheRequestsOrder) {
  std::array<float, 4> ones{1, 1, 1, 1};
  inputs_[1] = tensor(ones, {2, 2});
  ringkernel_prepared* const difference = prepare(request("Sub(%1, %0)", 2));
  ASSERT_EQ(call(difference, 2), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(out_, ElementsAre(0, 3, -2, 5));
  ringkernel_prepared* const square = prepare(request("Mul(%0, %0)", 1));
  ASSERT_EQ(call(square, 1), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(out_, ElementsAre(1, 4, 9, 16));
}

TEST_F(PreparedCapi, GivesNoResultWhereThereIsNone) {
  ringkernel_prepared* const noop = prepare(request("noop", 0));
  EXPECT_EQ(ringkernel_prepared_call(noop, nullptr, 0, second_ns, nullptr, 0), RINGKERNEL_OK)
      << last_error();
  EXPECT_EQ(call(noop, 0), 2007);
}

TEST_F(PreparedCapi, SaysWhatIsAnotherRequest) {
  ringkernel_prepared* const add = prepare(request("add", 2));
  EXPECT_EQ(call(add, 1), 2007);
  EXPECT_THAT(last_error(), HasSubstr("prepared for 2 inputs; the call gives 1"));
  EXPECT_EQ(ringkernel_prepared_call(add, inputs_.data(), 2, 0, &result_, 0), 2007);
  EXPECT_THAT(last_error(), HasSubstr("prepared for 1 result; the call gives 0"));
  inputs_[1].dtype = RINGKERNEL_I32;
  EXPECT_EQ(call(add, 2), 2004);
  inputs_[1] = tensor(std::span(elements_).first(3), {3});
  EXPECT_EQ(call(add, 2), 3007);
  inputs_[1].data_bytes = 15;
  EXPECT_EQ(call(add, 2), 3007);
  EXPECT_THAT(last_error(), HasSubstr("inputs[1] has 15 bytes"));
  inputs_[1].dtype = 9;
  EXPECT_EQ(call(add, 2), RINGKERNEL_E_invalid_argument);
  inputs_[1] = tensor(elements_, {4});
  inputs_[1].data = nullptr;
  EXPECT_EQ(call(add, 2), RINGKERNEL_E_invalid_argument);
  EXPECT_THAT(last_error(), HasSubstr("inputs[1].data is null"));
  EXPECT_THAT(out_, Each(0.0f));
}

TEST_F(PreparedCapi, SendsNothingForAResultWithoutRoom) {
  ringkernel_prepared* const add = prepare(request("add", 2));
  ASSERT_EQ(ringkernel_kernel_deactivate(kernel_), RINGKERNEL_OK);  // a call would find no answer
  result_.data_bytes = 15;
  EXPECT_EQ(call(add, 2), RINGKERNEL_E_message_too_large);
  EXPECT_EQ(result_.data_bytes, 16u);
  EXPECT_THAT(last_error(), HasSubstr("f32[2, 2], 16 bytes; there is room for 15"));
  result_.data = nullptr;
  EXPECT_EQ(call(add, 2), RINGKERNEL_E_message_too_large);
  result_ = tensor(out_, {});
  EXPECT_EQ(ringkernel_prepared_call(add, inputs_.data(), 2, 1, &result_, 1),
            RINGKERNEL_E_deadline_exceeded);
}

/// Handles are shared: one thread calls at a time, and the other one hears that.
TEST_F(PreparedCapi, IsBusyWhileAnotherThreadCalls) {
  ringkernel_prepared* const add = prepare(request("add", 2));
  ASSERT_EQ(ringkernel_kernel_deactivate(kernel_), RINGKERNEL_OK);
  std::atomic<bool> is_over{false};
  ringkernel_status first = -1;
  std::thread caller([&] {
    do {
      first = ringkernel_prepared_call(add, inputs_.data(), 2, 60 * second_ns, &result_, 1);
    } while (first == RINGKERNEL_E_busy);
    is_over = true;
  });
  std::array<float, 4> other_out{};
  ringkernel_tensor other = tensor(other_out, {});
  ringkernel_status second = RINGKERNEL_E_deadline_exceeded;
  while (second == RINGKERNEL_E_deadline_exceeded && !is_over)  // until the other one has begun
    second = ringkernel_prepared_call(add, inputs_.data(), 2, 1000, &other, 1);
  EXPECT_EQ(second, RINGKERNEL_E_busy);
  EXPECT_THAT(last_error(), HasSubstr("one thread at a time"));
  EXPECT_EQ(ringkernel_prepared_close(add), RINGKERNEL_OK);  // the call goes on
  ASSERT_EQ(ringkernel_kernel_activate(kernel_), RINGKERNEL_OK);
  caller.join();
  EXPECT_EQ(first, RINGKERNEL_OK);
  EXPECT_THAT(out_, ElementsAre(2, -4, 6, -8));
}

TEST_F(PreparedCapi, EndsWithKernelAndRuntime) {
  ringkernel_prepared* const add = prepare(request("add", 2));
  ASSERT_EQ(ringkernel_kernel_close(kernel_), RINGKERNEL_OK);  // the kernel goes on
  ASSERT_EQ(call(add, 2), RINGKERNEL_OK) << last_error();
  ASSERT_EQ(ringkernel_runtime_close(runtime_), RINGKERNEL_OK);
  EXPECT_EQ(call(add, 2), RINGKERNEL_E_invalid_argument);
}

TEST_F(PreparedCapi, AnswersTheCodesOfARequest) {
  ringkernel_prepared* prepared = nullptr;
  const std::array cases{std::pair{request("add", 1), 2007}, std::pair{request("frob", 1), 6003},
                         std::pair{request("Sum", 1, "[2], false"), 3004}};
  for (const auto& [asked, code] : cases)
    EXPECT_EQ(ringkernel_kernel_prepare(kernel_, &asked, &prepared), code) << asked.op;
  const ringkernel_request add = request("add", 2);
  ringkernel_request no_size = add, no_inputs = add;
  no_size.struct_size = 0;
  no_inputs.inputs = nullptr;
  EXPECT_EQ(ringkernel_kernel_prepare(kernel_, &no_size, &prepared), 1001);
  EXPECT_EQ(ringkernel_kernel_prepare(kernel_, &no_inputs, &prepared), 1001);
  EXPECT_EQ(ringkernel_kernel_prepare(kernel_, nullptr, &prepared), 1001);
  EXPECT_EQ(ringkernel_kernel_prepare(kernel_, &add, nullptr), 1001);
  EXPECT_EQ(prepared, nullptr);
  ringkernel_kernel* echo = nullptr;
  ringkernel_kernel_options options{};
  options.struct_size = sizeof options;
  options.program = "echo";
  ASSERT_EQ(ringkernel_kernel_launch(runtime_, "echo", &options, &echo), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_kernel_prepare(echo, &add, &prepared), RINGKERNEL_E_unsupported_operation);
}

TEST_F(PreparedCapi, RefusesWhatIsNoHandle) {
  const ringkernel_request add = request("add", 2);
  ringkernel_prepared* made = nullptr;
  for (ringkernel_kernel* const none : no_handles<ringkernel_kernel>(runtime_))
    EXPECT_EQ(ringkernel_kernel_prepare(none, &add, &made), RINGKERNEL_E_invalid_argument);
  for (ringkernel_prepared* const none : no_handles<ringkernel_prepared>(kernel_)) {
    EXPECT_EQ(call(none, 2), RINGKERNEL_E_invalid_argument);
    EXPECT_EQ(ringkernel_prepared_close(none), RINGKERNEL_E_invalid_argument);
  }
  made = prepare(add);
  EXPECT_EQ(ringkernel_prepared_call(made, nullptr, 2, 0, &result_, 1), 1001);
  EXPECT_EQ(ringkernel_prepared_call(made, inputs_.data(), 2, 0, nullptr, 1), 1001);
  constexpr std::size_t many = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(ringkernel_prepared_call(made, inputs_.data(), many, 0, &result_, 1), 2007);
  EXPECT_EQ(ringkernel_prepared_call(made, inputs_.data(), 2, 0, &result_, many), 2007);
}

}  // namespace
}  // namespace ringkernel::test
