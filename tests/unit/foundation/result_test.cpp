// What compiles here is the test: hidden names that met would be an error, or a warning.
#include "ringkernel/result.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ringkernel {
namespace {

Result<int> half(int x) {
  if (x % 2 != 0) return Error(Errc::invalid_argument, std::to_string(x));
  return x / 2;
}

Result<void> check_even(int x) {
  if (x % 2 != 0) return Error(Errc::invalid_argument, std::to_string(x));
  return {};
}

Result<int> quarter(int x) {
  RK_TRY(result, [&]() -> Result<int> {
    RK_TRY(once, half(x));
    RK_TRY(twice, half(once));
    return twice;
  }());
  return result;
}

Result<int> quarter_of_checked(int x) {
  RK_TRY_VOID([&]() -> Result<void> {
    RK_TRY_VOID(check_even(x));
    RK_TRY_VOID(check_even(x / 2));
    return {};
  }());
  return x / 4;
}

#define RK_TRY_BOTH(a, b, x) \
  RK_TRY(a, half(x));        \
  RK_TRY(b, half((x) + 2))

Result<int> sum_of_halves(int x) {
  RK_TRY_BOTH(a, b, x);
  return a + b;
}

TEST(Try, MayStandInALambdaOfAnother) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error().detail, "3");
  EXPECT_EQ(quarter_of_checked(12).value(), 3);
  EXPECT_EQ(quarter_of_checked(7).error().detail, "7");
}

TEST(Try, MayStandTwiceOnOneLine) {
  EXPECT_EQ(sum_of_halves(4).value(), 5);
  EXPECT_EQ(sum_of_halves(5).error(), Errc::invalid_argument);
}

#undef RK_TRY_BOTH

}  // namespace
}  // namespace ringkernel
