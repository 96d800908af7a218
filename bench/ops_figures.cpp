#include "ops_figures.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "device_body.hpp"
#include "ops_baselines.hpp"

namespace bench {
namespace {

namespace rk = ringkernel;

#if defined(RK_BENCH_OPENBLAS)
constexpr std::string_view no_openblas = "";
#else
constexpr std::string_view no_openblas = "OpenBLAS was not found: ./rk packages libopenblas-dev";
#endif
#if defined(RK_BENCH_ONEDNN)
constexpr std::string_view no_onednn = "";
#else
constexpr std::string_view no_onednn = "oneDNN was not found: ./rk packages libdnnl-dev";
#endif

constexpr double sample_seconds = 0.02;

std::uint32_t repeats_for(double seconds_each) {
  return static_cast<std::uint32_t>(std::clamp(sample_seconds / seconds_each, 1.0, 1e6));
}

/// The mean time of one op on the device.
std::function<double()> time_body(const std::shared_ptr<DeviceBody>& body) {
  (void)body->run(1);  // its first touch of the operands
  return [body, repeats = repeats_for(body->run(1))] { return body->run(repeats); };
}

double seconds_of(const std::function<void()>& work, std::uint32_t repeats) {
  const Stopwatch watch;
  for (std::uint32_t i = 0; i < repeats; ++i) work();
  return watch.us() * 1e-6 / repeats;
}

std::function<double()> time_host(const std::function<void()>& work) {
  work();
  return [work, repeats = repeats_for(seconds_of(work, 1))] { return seconds_of(work, repeats); };
}

/// Floats as well aligned as the arena's tensors.
class Floats {
 public:
  explicit Floats(std::size_t count)
      : data_(static_cast<float*>(::operator new(count * sizeof(float), alignment))),
        count_(count) {
    std::fill_n(data_.get(), count, 0.0f);
  }
  [[nodiscard]] float* data() const { return data_.get(); }
  [[nodiscard]] std::span<const float> span() const { return {data_.get(), count_}; }

 private:
  static constexpr std::align_val_t alignment{128};
  struct Delete {
    void operator()(float* floats) const { ::operator delete(floats, alignment); }
  };
  std::unique_ptr<float[], Delete> data_;
  std::size_t count_;
};

/// The operands are small multiples of 1/8, so that every order of summation is exact.
void require_equal(std::span<const float> ours, std::span<const float> theirs) {
  if (!std::ranges::equal(ours, theirs)) throw std::runtime_error("the results differ");
}

constexpr rk::TensorDesc f32(const rk::Shape& shape) { return {rk::DType::f32, shape}; }

#if defined(RK_BENCH_OPENBLAS)
Stopwatches matmul(std::uint32_t n) {
  const rk::TensorDesc inputs[] = {f32({n, n}), f32({n, n})};
  const auto body = std::make_shared<DeviceBody>("core", rk::Op::matmul, inputs);
  const auto product = std::make_shared<Floats>(std::size_t{n} * n);
  const Stopwatches result{time_body(body), time_host([=] {
                             openblas_matmul(body->input(0).data(), body->input(1).data(),
                                             product->data(), static_cast<int>(n));
                           })};
  require_equal(body->output(), product->span());
  return result;
}
#else
Stopwatches matmul(std::uint32_t) { return {}; }
#endif

#if defined(RK_BENCH_ONEDNN)
Stopwatches conv2d() {
  const rk::TensorDesc inputs[] = {f32({1, 56, 56, 32}), f32({3, 3, 32, 64})};
  rk::OpAttributes attributes;
  attributes.strides = {1, 1};
  attributes.padding = rk::Padding::same;
  const auto body = std::make_shared<DeviceBody>("core", rk::Op::conv2d, inputs, attributes);
  const auto theirs = std::make_shared<OnednnConv2d>(
      OnednnConv2d::Sizes{.rows = 56, .columns = 56, .channels = 32, .filter = 3, .outputs = 64},
      body->input(0).data(), body->input(1).data());
  const Stopwatches result{time_body(body), time_host([=] { theirs->run(); })};
  require_equal(body->output(), theirs->output());
  return result;
}
#else
Stopwatches conv2d() { return {}; }
#endif

using Loop = std::function<void(const DeviceBody&, float* out, int variant)>;

constexpr std::uint32_t four_m = 4u << 20;
constexpr std::uint32_t side = 2048;  // of a square of four_m elements

/// `theirs` is the fastest variant of the loop, chosen anew each time.
Stopwatches against_loop(rk::Op op, std::span<const rk::TensorDesc> inputs,
                         const rk::OpAttributes& attributes, const Loop& loop) {
  const auto body = std::make_shared<DeviceBody>("core", op, inputs, attributes);
  const auto out = std::make_shared<Floats>(body->output().size());
  std::vector<std::function<double()>> variants;
  std::function<double()> ours = time_body(body);
  for (int variant = 0; variant < loop_variants; ++variant) {
    variants.push_back(time_host([=] { loop(*body, out->data(), variant); }));
    require_equal(body->output(), out->span());
  }
  return {std::move(ours), [variants] {
            double fastest = variants[0]();
            for (std::size_t i = 1; i < variants.size(); ++i)
              fastest = std::min(fastest, variants[i]());
            return fastest;
          }};
}

/// 16 elements, and an echo of a message as long.
Stopwatches small_op() {
  const rk::TensorDesc inputs[] = {f32({16}), f32({16})};
  return {time_body(std::make_shared<DeviceBody>("core", rk::Op::add, inputs)),
          time_body(std::make_shared<DeviceBody>("echo", rk::Op::add, inputs))};
}

const float* in(const DeviceBody& body, std::size_t index) { return body.input(index).data(); }

OpsFigure loop_figure(std::string_view name, rk::Op op, std::vector<rk::TensorDesc> inputs,
                      const Loop& loop, const rk::OpAttributes& attributes = {}) {
  return {name, "x", Better::higher, 0.8, "loop", "", [=] {
            return against_loop(op, inputs, attributes, loop);
          }};
}

rk::OpAttributes shaped(rk::IntList shape) {
  rk::OpAttributes attributes;
  attributes.shape = shape;
  return attributes;
}

/// All rows without the first and the last element: copies that are not aligned.
rk::OpAttributes inner_columns() {
  rk::OpAttributes attributes;
  attributes.slice = {{0, 1}, {side, side - 1}, {1, 1}};
  return attributes;
}

rk::OpAttributes turned() {
  rk::OpAttributes attributes;
  attributes.permutation = {1, 0};
  return attributes;
}

OpsFigure matmul_figure(std::string_view name, std::uint32_t n) {
  return {name, "x", Better::higher, 0.85, "sgemm", no_openblas, [=] { return matmul(n); }};
}

const std::vector<OpsFigure> all = {
    matmul_figure("matmul_128_vs_openblas", 128),
    matmul_figure("matmul_256_vs_openblas", 256),
    matmul_figure("matmul_512_vs_openblas", 512),
    matmul_figure("matmul_1024_vs_openblas", 1024),
    {"conv2d_vs_onednn", "x", Better::higher, 0.6, "oneDNN", no_onednn, conv2d},
    loop_figure("add_4m_vs_loop", rk::Op::add, {f32({four_m}), f32({four_m})},
                [](const DeviceBody& body, float* out, int variant) {
                  loop_add(in(body, 0), in(body, 1), out, four_m, variant);
                }),
    loop_figure("mul_4m_vs_loop", rk::Op::mul, {f32({four_m}), f32({four_m})},
                [](const DeviceBody& body, float* out, int variant) {
                  loop_mul(in(body, 0), in(body, 1), out, four_m, variant);
                }),
    loop_figure("relu_4m_vs_loop", rk::Op::relu, {f32({four_m})},
                [](const DeviceBody& body, float* out, int variant) {
                  loop_relu(in(body, 0), out, four_m, variant);
                }),
    loop_figure("copy_4m_vs_loop", rk::Op::copy, {f32({four_m})},
                [](const DeviceBody& body, float* out, int variant) {
                  loop_copy(in(body, 0), out, four_m, variant);
                }),
    loop_figure(
        "fill_4m_vs_loop", rk::Op::fill, {f32({})},
        [](const DeviceBody& body, float* out, int variant) {
          loop_fill(*in(body, 0), out, four_m, variant);
        },
        shaped({four_m})),
    loop_figure("sum_4m_vs_loop", rk::Op::sum_all, {f32({four_m})},
                [](const DeviceBody& body, float* out, int variant) {
                  *out = loop_sum(in(body, 0), four_m, variant);
                }),
    loop_figure(
        "reshape_4m_vs_loop", rk::Op::reshape, {f32({four_m})},
        [](const DeviceBody& body, float* out, int variant) {
          loop_copy(in(body, 0), out, four_m, variant);
        },
        shaped({side, side})),
    loop_figure(
        "transpose_4m_vs_loop", rk::Op::transpose, {f32({side, side})},
        [](const DeviceBody& body, float* out, int variant) {
          loop_transpose(in(body, 0), out, side, variant);
        },
        turned()),
    loop_figure(
        "slice_4m_vs_loop", rk::Op::slice, {f32({side, side})},
        [](const DeviceBody& body, float* out, int variant) {
          loop_slice(in(body, 0), out, side, 1, variant);
        },
        inner_columns()),
    loop_figure("gather_4m_vs_loop", rk::Op::gather,
                {f32({four_m / 64, 64}), {rk::DType::i32, {four_m / 64}}},
                [](const DeviceBody& body, float* out, int variant) {
                  loop_gather(in(body, 0), body.indices(1), out, 64, variant);
                }),
    {"small_op_ns", "ns", Better::lower, 150, "echo", "", small_op},
};

}  // namespace

std::span<const OpsFigure> ops_figures() { return all; }

}  // namespace bench
