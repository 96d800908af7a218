/// What `choose` has every tool do, and the tools. All of them get the same numbers.
///
/// Threading: one thread.
/// Ownership: a runner borrows the work.
/// Errors: exceptions derived from std::exception.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// x W + b, or a convolution of 3 x 3 with stride 2, whose odd row and column of zeros are at the
/// bottom and at the right; then perhaps relu.
struct Layer {
  std::size_t side = 0;  ///< of a convolution's image; that of its result is half of it
  std::size_t inputs;    ///< numbers, or channels
  std::size_t outputs;
  bool relu;
  std::vector<float> weights = {};  ///< [inputs][outputs] or [3][3][inputs][outputs]
  std::vector<float> bias = {};     ///< empty: none

  [[nodiscard]] bool is_convolution() const { return side != 0; }
  /// For one row or image.
  [[nodiscard]] std::size_t input_count() const {
    return is_convolution() ? side * side * inputs : inputs;
  }
  [[nodiscard]] std::size_t output_count() const {
    return is_convolution() ? side * side / 4 * outputs : outputs;
  }
};

struct Work {
  std::size_t rows = 1;
  std::vector<Layer> layers;               ///< none: the sum of two inputs
  std::vector<std::vector<float>> inputs;  ///< images are [row][column][channel]
  std::vector<float> expected;

  [[nodiscard]] bool is_sum() const { return layers.empty(); }
};

/// `add16`, `add256`, `add64k`, `mlp64`, `mlp784`, `cnn` or `matmul512`.
[[nodiscard]] Work make_work(std::string_view name);

/// A tool that is ready for requests.
class Runner {
 public:
  virtual ~Runner() = default;
  /// What its user writes for each request.
  virtual void run() = 0;
  [[nodiscard]] virtual std::span<const float> output() const = 0;
};

[[nodiscard]] std::unique_ptr<Runner> make_loop(std::string_view name, const Work& work);
[[nodiscard]] std::unique_ptr<Runner> make_onnxruntime(const Work& work);
[[nodiscard]] std::unique_ptr<Runner> make_launches(const Work& work);
[[nodiscard]] std::unique_ptr<Runner> make_ours(const Work& work, const char* backend);

}  // namespace bench
