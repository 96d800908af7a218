/// The digits and the weights of the network, read from this folder's text files.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Errors: an absent or malformed file throws `std::runtime_error` with file, line and reason.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace digits {

inline constexpr std::size_t pixels = 64;
inline constexpr std::size_t hidden = 32;
inline constexpr std::size_t classes = 10;

/// The first rows of digits.csv are what the weights were trained on.
inline constexpr std::size_t training_rows = 1000;

/// Images with pixels in 0..1, and what they show.
class Dataset {
 public:
  void add(std::span<const float, pixels> image, int label);

  [[nodiscard]] std::size_t size() const noexcept { return labels_.size(); }
  [[nodiscard]] std::span<const float, pixels> image(std::size_t row) const noexcept {
    return std::span<const float, pixels>(images_.data() + row * pixels, pixels);
  }
  [[nodiscard]] int label(std::size_t row) const noexcept { return labels_[row]; }

 private:
  std::vector<float> images_;
  std::vector<int> labels_;
};

/// `relu(x W1 + b1) W2 + b2`; matrices row-major.
struct Network {
  std::vector<float> w1;  ///< [pixels, hidden]
  std::vector<float> b1;  ///< [hidden]
  std::vector<float> w2;  ///< [hidden, classes]
  std::vector<float> b2;  ///< [classes]
};

/// Reads digits.csv; the first `skip` rows are left out.
[[nodiscard]] Dataset load_digits(const std::filesystem::path& file, std::size_t skip = 0);

/// Reads weights.txt as train.py writes it.
[[nodiscard]] Network load_network(const std::filesystem::path& file);

}  // namespace digits
