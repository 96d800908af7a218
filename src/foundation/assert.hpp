/// Contract checks that stay on in every build: a broken invariant stops the process with a text.
#pragma once

#include <cstdio>
#include <cstdlib>

#define RK_ASSERT(condition, text)                                                                \
  do {                                                                                            \
    if (!(condition)) [[unlikely]] {                                                              \
      std::fprintf(stderr, "ringkernel: %s:%d: %s (%s)\n", __FILE__, __LINE__, text, #condition); \
      std::abort();                                                                               \
    }                                                                                             \
  } while (false)
