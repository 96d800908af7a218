// What the self-test is there for: a device whose stores become visible in no order, or that reads
// what it remembers, is found out and gets the next strategy. Such devices are builds of the probe
// with RK_SELF_TEST_FAULT (kernels/self_test.h). And what is remembered of a step down.
#include <gmock/gmock.h>

#include <string>

#include "backend/opencl/cache/pocl_cache.hpp"
#include "backend/opencl/program.hpp"
#include "backend/opencl/query.hpp"
#include "backend/opencl/self_test/choice.hpp"
#include "backend/opencl/self_test/self_test_payload.hpp"
#include "support/skip.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::opencl {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class VisibilityOpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (load_library().api.has_value())
      for (const FoundDevice& device : discover().devices)
        if (device.description.transfer == RK_TRANSFER_ZERO_COPY &&
            std::string_view(device.description.platform) == pocl_platform)
          found_ = &device;
    if (found_ == nullptr) RK_SKIP_WITHOUT("pocl", "another driver may not get to dma");
  }

  /// Calls `test` with a probe that is built with the fault; 0: none.
  template <class Test>
  auto with_fault(int fault, Test test) -> decltype(test(std::declval<const Probe&>())) {
    RK_TRY(options, build_options(found_->id));
    if (fault != 0) options += " -DRK_SELF_TEST_FAULT=" + std::to_string(fault);
    cl_int status = CL_SUCCESS;
    const Context context(cl().clCreateContext(nullptr, 1, &found_->id, nullptr, nullptr, &status));
    RK_TRY_VOID(check("clCreateContext", status));
    BinaryCache cache(*found_);
    return test(Probe{context.get(), found_->id, options, cache});
  }

  const FoundDevice* found_ = nullptr;
};

TEST_F(VisibilityOpenCl, OfADeviceThatKeepsTheOrderIsConfirmed) {
  for (const auto test : {test_zero_copy, test_dma, test_sliced}) {
    const auto figures = with_fault(0, test);
    EXPECT_TRUE(figures.has_value()) << figures.error().text();
  }
}

// The measured pace is a thousandth then, and a kernel with so few polls has ended at ping 1.
TEST_F(VisibilityOpenCl, OfADeviceThatOthersHoldUpIsConfirmed) {
  const auto figures = with_fault(RK_SELF_TEST_HELD_UP, test_dma);
  ASSERT_TRUE(figures.has_value()) << figures.error().text();
  EXPECT_GT(figures->polls_per_ms, 1'000u);
}

TEST_F(VisibilityOpenCl, OfAnAnswerThatComesBehindItsNumberIsMissed) {
  const auto figures = with_fault(RK_SELF_TEST_OVERTAKEN, test_zero_copy);
  ASSERT_TRUE(figures.has_error());
  EXPECT_THAT(figures.error().detail,
              AllOf(HasSubstr("announced, but not there"), HasSubstr("of 128 is an old one")));
}

TEST_F(VisibilityOpenCl, OfALineThatStaysInACacheIsMissed) {
  for (const auto test : {test_zero_copy, test_dma}) {
    const auto figures = with_fault(RK_SELF_TEST_HELD_BACK, test);
    ASSERT_TRUE(figures.has_error());
    // The first answer stores line 0 last.
    EXPECT_THAT(figures.error().detail,
                HasSubstr("ping 1 was announced, but not there: word 0 of 128 is an old one"));
  }
}

TEST_F(VisibilityOpenCl, OfTheHostsStoresIsMissedWhereTheDeviceRemembersOlderOnes) {
  for (const auto test : {test_zero_copy, test_dma, test_sliced}) {
    const auto figures = with_fault(RK_SELF_TEST_REMEMBERED, test);
    ASSERT_TRUE(figures.has_error());
    EXPECT_THAT(figures.error().detail, HasSubstr("is an old one"));
  }
}

TEST_F(VisibilityOpenCl, ThatOnlyTheEndOfAKernelBringsLeavesSliced) {
  // The number of work-groups is one that no other test of this process asks for: the result is
  // remembered.
  const auto choice = with_fault(RK_SELF_TEST_HELD_BACK, [&](const Probe& probe) {
    return choose_transfer(
        *found_, probe,
        {.transfer = RK_TRANSFER_NONE, .work_groups = RK_WORK_GROUPS_MAX - 1, .test_anew = true});
  });
  ASSERT_TRUE(choice.has_value()) << choice.error().text();
  EXPECT_EQ(choice->transfer, RK_TRANSFER_SLICED);
  EXPECT_FALSE(choice->may_pass);
  EXPECT_THAT(choice->steps_down, AllOf(HasSubstr("zero_copy: self-test: the answer to ping 1"),
                                        HasSubstr("dma: self-test: ")));
}

TEST(SelfTestPayload, EveryWordOfAnAnswerCounts) {
  SelfTestPayload answer;
  for (const rk_u32 number : {1u, 2u, 3u, 4u, 100u})
    for (rk_u32 spoiled = 0; spoiled < RK_SELF_TEST_WORDS; ++spoiled) {
      fill_payload(answer, number);
      for (rk_u32& word : answer) word = ~word;
      EXPECT_EQ(fault_of_answer(answer, number), "");
      answer[spoiled] = ~payload_word(number - 1, spoiled);
      EXPECT_THAT(fault_of_answer(answer, number),
                  HasSubstr("word " + std::to_string(spoiled) + " of 128 is an old one"));
      answer[spoiled] = 17;
      EXPECT_THAT(fault_of_answer(answer, number),
                  HasSubstr("word " + std::to_string(spoiled) + " of 128 is wrong"));
    }
}

// One failure of a call, or of a slice, for want of memory: the next process tests again.
TEST_F(VisibilityOpenCl, AStepDownForWantOfMemoryIsNotRemembered) {
  const testing::TempFolder home;
  const auto choose = [&](const char* plan) {
    return testing::run_child({RK_BACKEND_CHILD, "choose"},
                              {{"XDG_CACHE_HOME", home.path()},
                               {"POCL_CACHE_DIR", pocl_cache_folder(pocl_platform)},
                               {"RINGKERNEL_CACHE", ""},
                               {"OPENCL_LAYERS", *plan == '\0' ? "" : RK_FAULT_LAYER},
                               {"RK_FAULT", plan}})
        .output;
  };
  for (const char* plan : {"memory:1", "event:3"})
    EXPECT_THAT(choose(plan), AllOf(HasSubstr("zero_copy: "), Not(HasSubstr("remembered"))))
        << plan;
  EXPECT_THAT(choose(""), AllOf(HasSubstr("zero_copy confirmed"), Not(HasSubstr("remembered"))));
  EXPECT_THAT(choose(""), AllOf(HasSubstr("zero_copy confirmed"), HasSubstr("remembered")));
}

TEST(PassingFailure, IsKnownByItsCodeOrByTheStatusInItsText) {
  for (const cl_int status : {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES,
                              CL_OUT_OF_HOST_MEMORY, CL_INVALID_COMMAND_QUEUE}) {
    EXPECT_TRUE(may_pass(call_error("clFlush", status))) << status;
    EXPECT_TRUE(may_pass(Error(Errc::backend_unavailable, "ended with " + status_text(status))));
  }
  EXPECT_TRUE(may_pass(Error(Errc::allocation_failure, "clSVMAlloc returned nothing")));
  EXPECT_FALSE(may_pass(call_error("clFlush", CL_INVALID_VALUE)));
  EXPECT_FALSE(may_pass(Error(Errc::backend_unavailable, "ping 1 was not answered")));
}

}  // namespace
}  // namespace ringkernel::opencl
