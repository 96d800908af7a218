#include <algorithm>
#include <array>

#include "ops_baselines.hpp"

// One function per loop, compiled for the vectors of this processor like the native backend.
#if defined(__x86_64__)
#define RK_EVERY_LEVEL __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RK_EVERY_LEVEL
#endif

namespace bench {

RK_EVERY_LEVEL void loop_add(const float* __restrict a, const float* __restrict b,
                             float* __restrict out, std::size_t count, int) {
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}

RK_EVERY_LEVEL void loop_mul(const float* __restrict a, const float* __restrict b,
                             float* __restrict out, std::size_t count, int) {
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] * b[i];
}

RK_EVERY_LEVEL void loop_relu(const float* __restrict x, float* __restrict out, std::size_t count,
                              int) {
  for (std::size_t i = 0; i < count; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}

/// The compiler makes a call of memcpy of this, unless it is told not to.
RK_EVERY_LEVEL __attribute__((optimize("no-tree-loop-distribute-patterns"))) void loop_copy_inline(
    const float* __restrict x, float* __restrict out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = x[i];
}

void loop_copy(const float* x, float* out, std::size_t count, int variant) {
  if (variant == 0)
    std::copy_n(x, count, out);
  else
    loop_copy_inline(x, out, count);
}

RK_EVERY_LEVEL void loop_fill(float value, float* out, std::size_t count, int) {
  for (std::size_t i = 0; i < count; ++i) out[i] = value;
}

/// In order, and with as many sums side by side as hide the latency of an addition.
RK_EVERY_LEVEL float loop_sum(const float* x, std::size_t count, int variant) {
  if (variant == 0) {
    float sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += x[i];
    return sum;
  }
  std::array<float, 64> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= count; i += sums.size())
    for (std::size_t lane = 0; lane < sums.size(); ++lane) sums[lane] += x[i + lane];
  float sum = 0;
  for (const float lane : sums) sum += lane;
  for (; i < count; ++i) sum += x[i];
  return sum;
}

}  // namespace bench
