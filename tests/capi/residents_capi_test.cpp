// Resident tensors from C: what they keep, as operands and results, and nonsense.
#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <span>

#include "capi/nonsense.hpp"
#include "capi/ringkernel_fixture.hpp"

namespace ringkernel::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST_F(ResidentsCapi, KeepTheirElements) {
  ringkernel_resident* const kept = resident(elements_, {2, 2});
  ringkernel_tensor result = tensor(out_, {});
  ASSERT_EQ(ringkernel_resident_read(kept, second_ns, &result), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(out_, ElementsAre(1, -2, 3, -4));
  EXPECT_EQ(result.dtype, RINGKERNEL_F32);
  EXPECT_EQ(result.rank, 2u);
  EXPECT_THAT(std::span(result.dims, 2), ElementsAre(2, 2));
  std::array<float, 4> others{5, 6, 7, 8};
  const ringkernel_tensor flat = tensor(others, {4});
  ASSERT_EQ(ringkernel_resident_write(kept, &flat, 0), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(read(kept), ElementsAre(5, 6, 7, 8));
  ringkernel_tensor no_elements = flat;
  no_elements.data = nullptr;
  no_elements.data_bytes = 0;
  ringkernel_resident* zeros = nullptr;
  ASSERT_EQ(ringkernel_resident_create(runtime_, &no_elements, &zeros), RINGKERNEL_OK);
  EXPECT_THAT(read(zeros), Each(0.0f));
  EXPECT_EQ(ringkernel_resident_close(kept), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_resident_read(kept, 0, &result), RINGKERNEL_E_invalid_argument);
  ASSERT_EQ(ringkernel_runtime_close(runtime_), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_resident_close(zeros), RINGKERNEL_E_invalid_argument);
}

TEST_F(ResidentsCapi, AreOperandsAndResultsOfOps) {
  ringkernel_resident* const kept = resident(elements_, {2, 2});
  std::array<float, 4> ones{1, 1, 1, 1};
  inputs_[1] = tensor(ones, {2, 2});
  const std::array<ringkernel_resident*, 2> residents{kept, nullptr};
  ringkernel_request add = request("add", 2);
  add.residents = residents.data();
  ASSERT_EQ(ringkernel_call(kernel_, &add, 0, &result_), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(out_, ElementsAre(2, -1, 4, -3));
  add.into = kept;
  out_ = {};
  ASSERT_EQ(ringkernel_call(kernel_, &add, 0, &result_), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(result_.dtype, RINGKERNEL_NONE);
  EXPECT_EQ(result_.data_bytes, 0u);
  EXPECT_THAT(out_, Each(0.0f));
  EXPECT_THAT(read(kept), ElementsAre(2, -1, 4, -3));
  ringkernel_request relu = request("relu", 1);  // all of its inputs are on the device
  relu.inputs = nullptr;
  relu.residents = residents.data();
  result_.data_bytes = sizeof out_;
  ASSERT_EQ(ringkernel_call(kernel_, &relu, 0, &result_), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(out_, ElementsAre(2, 0, 4, 0));
  // As an older caller has it, who knows of no tensors on the device.
  add.struct_size = offsetof(ringkernel_request, residents);
  result_.data_bytes = sizeof out_;
  ASSERT_EQ(ringkernel_call(kernel_, &add, 0, &result_), RINGKERNEL_OK) << last_error();
  EXPECT_THAT(out_, ElementsAre(2, -1, 4, -3));
  EXPECT_THAT(read(kept), ElementsAre(2, -1, 4, -3));
}

TEST_F(ResidentsCapi, AreOperandsAndResultsOfPreparedCalls) {
  ringkernel_resident* const kept = resident(elements_, {2, 2});
  const std::array<ringkernel_resident*, 2> residents{kept, nullptr};
  ringkernel_request add = request("add", 2);
  add.residents = residents.data();
  add.into = kept;
  ringkernel_prepared* prepared = nullptr;
  ASSERT_EQ(ringkernel_kernel_prepare(kernel_, &add, &prepared), RINGKERNEL_OK) << last_error();
  std::array<float, 4> ones{1, 1, 1, 1};
  inputs_[0] = {};  // not looked at
  inputs_[1] = tensor(ones, {2, 2});
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(ringkernel_prepared_call(prepared, inputs_.data(), 2, 0, nullptr, 0), RINGKERNEL_OK)
        << last_error();
  EXPECT_THAT(read(kept), ElementsAre(3, 0, 5, -2));
  ASSERT_EQ(ringkernel_resident_close(kept), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_prepared_call(prepared, inputs_.data(), 2, 0, nullptr, 0),
            RINGKERNEL_E_tensor_not_found);
}

TEST_F(ResidentsCapi, RefuseNullAndNonsense) {
  ringkernel_resident* const kept = resident(elements_, {2, 2});
  ringkernel_resident* made = nullptr;
  ringkernel_tensor tensor_2x2 = tensor(elements_, {2, 2});
  ringkernel_tensor wrong_type = tensor_2x2, wrong_shape = tensor_2x2, too_few = tensor_2x2;
  wrong_type.dtype = RINGKERNEL_I32;
  wrong_shape.dims[0] = 0;
  too_few.data_bytes = 12;
  const std::pair<ringkernel_status, int> answers[] = {
      {ringkernel_resident_create(runtime_, nullptr, &made), 1001},
      {ringkernel_resident_create(runtime_, &tensor_2x2, nullptr), 1001},
      {ringkernel_resident_create(runtime_, &wrong_shape, &made), 3006},
      {ringkernel_resident_create(runtime_, &too_few, &made), 3007},
      {ringkernel_resident_write(kept, nullptr, 0), 1001},
      {ringkernel_resident_write(kept, &wrong_type, 0), 2004},
      {ringkernel_resident_write(kept, &too_few, 0), 3007},
      {ringkernel_resident_read(kept, 0, nullptr), 1001},
      {ringkernel_resident_read(kept, 0, &too_few), RINGKERNEL_E_message_too_large},
  };
  for (std::size_t i = 0; i < std::size(answers); ++i)
    EXPECT_EQ(answers[i].first, answers[i].second) << "answer " << i;
  EXPECT_EQ(too_few.data_bytes, 16u);
  EXPECT_EQ(made, nullptr);
  for (ringkernel_runtime* const none : no_handles<ringkernel_runtime>(kernel_))
    EXPECT_EQ(ringkernel_resident_create(none, &tensor_2x2, &made), RINGKERNEL_E_invalid_argument);
  for (ringkernel_resident* const none : no_handles<ringkernel_resident>(kernel_)) {
    ringkernel_request relu = request("relu", 1);
    relu.into = none;
    const ringkernel_status statuses[] = {
        ringkernel_resident_write(none, &tensor_2x2, 0),
        ringkernel_resident_read(none, 0, &tensor_2x2),
        ringkernel_resident_close(none),
        none == nullptr ? 1001 : ringkernel_call(kernel_, &relu, 0, &result_),
    };
    EXPECT_THAT(statuses, Each(RINGKERNEL_E_invalid_argument)) << none;
  }
}

}  // namespace
}  // namespace ringkernel::test
