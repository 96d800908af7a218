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

/// Rows read in order, or columns written in order.
RK_EVERY_LEVEL void loop_transpose(const float* __restrict x, float* __restrict out,
                                   std::size_t side, int variant) {
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j) {
      if (variant == 0)
        out[j * side + i] = x[i * side + j];
      else
        out[i * side + j] = x[j * side + i];
    }
}

RK_EVERY_LEVEL void loop_slice(const float* __restrict x, float* __restrict out, std::size_t side,
                               std::size_t margin, int variant) {
  const std::size_t width = side - 2 * margin;
  for (std::size_t i = 0; i < side; ++i)
    loop_copy(x + i * side + margin, out + i * width, width, variant);
}

RK_EVERY_LEVEL void loop_gather(const float* __restrict x, std::span<const std::int32_t> indices,
                                float* __restrict out, std::size_t width, int variant) {
  for (std::size_t i = 0; i < indices.size(); ++i)
    loop_copy(x + static_cast<std::size_t>(indices[i]) * width, out + i * width, width, variant);
}

}  // namespace bench

#undef RK_EVERY_LEVEL
