/// What the ops are compared with, each in one thread.
///
/// Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

// loops.cpp: simple C++ loops, vectorised by the compiler. `variant` picks among ways to write
// one; there are `loop_variants` of each.
inline constexpr int loop_variants = 2;
void loop_add(const float* a, const float* b, float* out, std::size_t count, int variant);
void loop_mul(const float* a, const float* b, float* out, std::size_t count, int variant);
void loop_relu(const float* x, float* out, std::size_t count, int variant);
void loop_copy(const float* x, float* out, std::size_t count, int variant);
void loop_fill(float value, float* out, std::size_t count, int variant);
[[nodiscard]] float loop_sum(const float* x, std::size_t count, int variant);
// A square matrix turned over, or without its outermost columns; rows of `width` elements.
void loop_transpose(const float* x, float* out, std::size_t side, int variant);
void loop_slice(const float* x, float* out, std::size_t side, std::size_t margin, int variant);
void loop_gather(const float* x, std::span<const std::int32_t> indices, float* out,
                 std::size_t width, int variant);

/// OpenBLAS's sgemm: c = a b, all n x n and row-major.
void openblas_matmul(const float* a, const float* b, float* c, int n);

/// oneDNN's convolution with same padding, stride 1; images NHWC, filter HWIO. Its own layouts are
/// reached by reorders, which `run` includes.
class OnednnConv2d {
 public:
  struct Sizes {
    int rows;
    int columns;
    int channels;
    int filter;
    int outputs;
  };
  OnednnConv2d(const Sizes& sizes, const float* images, const float* filter);
  ~OnednnConv2d();
  OnednnConv2d(OnednnConv2d&&) = delete;
  void run();
  [[nodiscard]] std::span<const float> output() const;

 private:
  struct State;
  State* state_;
};

}  // namespace bench
