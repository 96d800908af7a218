#include "support/registry.hpp"

#include <gmock/gmock.h>

#include "support/environment.hpp"

namespace ringkernel::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StrEq;

constexpr const char* two_memories = RK_TWO_MEMORIES;

TEST(Registry, WordsStandBetweenCommas) {
  EXPECT_THAT(words_of("native,/a b/librk_backend_x.so"),
              ElementsAre("native", "/a b/librk_backend_x.so"));
  EXPECT_THAT(words_of(",one,,two,"), ElementsAre("one", "two"));
  EXPECT_THAT(words_of(","), IsEmpty());
  EXPECT_THAT(words_of(""), IsEmpty());
  EXPECT_THAT(words_of(nullptr), IsEmpty());
}

TEST(Registry, ALabelIsTheNameOfAPluginAndFitForATest) {
  EXPECT_EQ(label_of(std::string_view("native")), "native");
  EXPECT_EQ(label_of(std::string_view(two_memories)), "two_memories");
  EXPECT_EQ(label_of(std::string_view("/x/librk_backend_my-own.so")), "my_own");
  EXPECT_EQ(label_of(std::string_view("other.so.1")), "other");
}

TEST(Registry, EachBackendHasItsStrategiesAndNoOther) {
  EXPECT_TRUE(may_have("native", Transfer::zero_copy));
  EXPECT_FALSE(may_have("native", Transfer::dma));
  EXPECT_FALSE(may_have("native", Transfer::sliced));
  EXPECT_FALSE(may_have("two_memories", Transfer::zero_copy));
  EXPECT_TRUE(may_have(two_memories, Transfer::sliced));
  EXPECT_TRUE(may_have("opencl", Transfer::dma));
  EXPECT_TRUE(may_have("native", Transfer::automatic));
  EXPECT_TRUE(may_have("/x/librk_backend_of_a_user.so", Transfer::dma)) << "it knows best";
}

TEST(Registry, HostThreadsRunWhatIsCompiledAsTheTestIs) {
  EXPECT_TRUE(is_of_host_threads("native"));
  EXPECT_TRUE(is_of_host_threads(two_memories));
  EXPECT_TRUE(is_of_host_threads("two_memories")) << "as metrics call it";
  EXPECT_FALSE(is_of_host_threads("opencl"));
  EXPECT_FALSE(is_of_host_threads("of_a_user"));
}

TEST(Registry, WithoutANameThoseAreTestedThatHaveTheStrategy) {
  EXPECT_THAT(choose_backends(nullptr, Transfer::automatic), ElementsAre("native", "opencl"));
  EXPECT_THAT(choose_backends("", Transfer::zero_copy), ElementsAre("native", "opencl"));
  EXPECT_THAT(choose_backends(nullptr, Transfer::dma), ElementsAre("opencl", two_memories));
  EXPECT_THAT(choose_backends(nullptr, Transfer::sliced), ElementsAre("opencl", two_memories));
}

TEST(Registry, WhatIsNamedIsTestedWhateverTheStrategy) {
  EXPECT_THAT(choose_backends("native,/x/librk_backend_y.so", Transfer::dma),
              ElementsAre("native", "/x/librk_backend_y.so"));
  const testing::Variable named("RINGKERNEL_TEST_BACKENDS", "native");
  EXPECT_TRUE(are_named());
  const testing::Variable nothing("RINGKERNEL_TEST_BACKENDS", ",");
  EXPECT_FALSE(are_named());
}

TEST(Registry, TheStrategyIsTheEnvironments) {
  const testing::Variable sliced("RINGKERNEL_TRANSFER", "sliced");
  EXPECT_EQ(strategy_under_test(), Transfer::sliced);
  EXPECT_THAT(host_backend(), StrEq(two_memories));
  const testing::Variable any("RINGKERNEL_TRANSFER", "");
  EXPECT_EQ(strategy_under_test(), Transfer::automatic);
  EXPECT_THAT(host_backend(), StrEq("native"));
  EXPECT_THAT(host_backend(Transfer::dma), StrEq(two_memories));
}

TEST(Registry, EveryStrategyIsTestedOnHostThreads) {
  for (const Transfer transfer : {Transfer::zero_copy, Transfer::dma, Transfer::sliced})
    EXPECT_TRUE(may_have(host_backend(transfer), transfer)) << label_of(transfer);
}

}  // namespace
}  // namespace ringkernel::test
