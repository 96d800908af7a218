#include "backend/guard.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <thread>

namespace ringkernel::backend {
namespace {

constexpr int32_t status_of(Errc code) { return static_cast<int32_t>(code); }

TEST(Guard, ReturnsZeroForSuccess) {
  EXPECT_EQ(guarded([]() -> Result<void> { return {}; }), 0);
}

TEST(Guard, KeepsTheDetailOfAnError) {
  EXPECT_EQ(guarded([]() -> Result<void> { return Error(Errc::busy, "slice 7"); }),
            status_of(Errc::busy));
  EXPECT_STREQ(last_detail_text(), "slice 7");
}

TEST(Guard, TurnsExceptionsIntoStatuses) {
  EXPECT_EQ(guarded([]() -> Result<void> { throw std::bad_alloc(); }),
            status_of(Errc::allocation_failure));
  EXPECT_EQ(guarded([]() -> Result<void> { throw std::runtime_error("out of luck"); }),
            status_of(Errc::internal));
  EXPECT_STREQ(last_detail_text(), "out of luck");
  EXPECT_EQ(guarded([]() -> Result<void> { throw 7; }), status_of(Errc::internal));
}

TEST(Guard, KeepsTheDetailsOfThreadsApart) {
  fail(Errc::busy, "of the first thread");
  std::thread([] {
    EXPECT_STREQ(last_detail_text(), "");
    fail(Errc::busy, "of the second thread");
  }).join();
  EXPECT_STREQ(last_detail_text(), "of the first thread");
}

}  // namespace
}  // namespace ringkernel::backend
