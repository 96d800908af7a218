/// What a test lacks, said in one place: a skip for a user, a failure where the part is required.
///
///   RINGKERNEL_REQUIRE  parts with commas between that must be there (.ci/run names them): opencl,
///                       pocl, oclgrind, chromium, prometheus, mlir, models, root, rkc; of scripts
///                       (skip.sh): conan, debian, dpkg, intel, clang, ptxas
///
/// Threading: any thread, while nobody changes the environment.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "support/registry.hpp"

namespace ringkernel::test {

inline bool is_required(std::string_view part) {
  const auto required = words_of(std::getenv("RINGKERNEL_REQUIRE"));
  return std::ranges::find(required, part) != required.end();
}

}  // namespace ringkernel::test

/// Ends a test that needs `part`, which is missing; `why` is a text.
#define RK_SKIP_WITHOUT(part, why)                                                       \
  do {                                                                                   \
    if (::ringkernel::test::is_required(part))                                           \
      GTEST_FAIL() << part << " is required (RINGKERNEL_REQUIRE), and missing: " << why; \
    GTEST_SKIP() << "without " << part << ": " << why;                                   \
  } while (false)

/// Ends a test that says nothing about this device, this build or this system, for good.
#define RK_SKIP_UNSUPPORTED(why) GTEST_SKIP() << "unsupported: " << why
