#include "dataset.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace digits {
namespace {

constexpr int pixel_max = 16;

/// A text file read line by line that knows where it is.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& file) : name_(file.string()), stream_(file) {
    if (!stream_) throw std::runtime_error(name_ + ": cannot be opened");
  }

  [[nodiscard]] bool next() {
    ++number_;
    rest_ = {};
    if (!std::getline(stream_, line_)) return false;
    rest_ = line_;
    return true;
  }

  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

  /// Takes one number and the `separator` or line end behind it.
  template <class T>
  [[nodiscard]] T take(char separator) {
    T value{};
    const char* const end = rest_.data() + rest_.size();
    const auto [stop, error] = std::from_chars(rest_.data(), end, value);
    if (error != std::errc{} || (stop != end && *stop != separator))
      fail("expected a number at '" + std::string(rest_.substr(0, 20)) + "'");
    rest_ = stop == end ? std::string_view{} : std::string_view(stop + 1, end);
    return value;
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw std::runtime_error(name_ + ":" + std::to_string(number_) + ": " + reason);
  }

 private:
  std::string name_;
  std::ifstream stream_;
  std::string line_;
  std::string_view rest_;
  std::size_t number_ = 0;
};

/// Reads the block "NAME ROWS COLUMNS" and its rows.
std::vector<float> read_block(LineReader& reader, std::string_view name, std::size_t rows,
                              std::size_t columns) {
  const std::string title =
      std::string(name) + " " + std::to_string(rows) + " " + std::to_string(columns);
  bool found = reader.next();
  while (found && reader.rest().starts_with('#')) found = reader.next();
  if (reader.rest() != title) reader.fail("expected '" + title + "'");

  std::vector<float> values;
  values.reserve(rows * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    if (!reader.next()) reader.fail("the file ends inside " + title);
    for (std::size_t column = 0; column < columns; ++column) {
      values.push_back(reader.take<float>(' '));
      if (!std::isfinite(values.back())) reader.fail("a weight is not finite");
    }
    if (!reader.rest().empty()) reader.fail("more than " + std::to_string(columns) + " numbers");
  }
  return values;
}

}  // namespace

void Dataset::add(std::span<const float, pixels> image, int label) {
  images_.insert(images_.end(), image.begin(), image.end());
  labels_.push_back(label);
}

Dataset load_digits(const std::filesystem::path& file, std::size_t skip) {
  LineReader reader(file);
  Dataset digits;
  for (std::size_t row = 0; reader.next(); ++row) {
    std::array<float, pixels> image{};
    for (float& pixel : image) {
      const int level = reader.take<int>(',');
      if (level < 0 || level > pixel_max) reader.fail("a pixel is not in 0..16");
      pixel = static_cast<float>(level) / pixel_max;
    }
    const int label = reader.take<int>(',');
    if (label < 0 || label >= static_cast<int>(classes)) reader.fail("the label is not in 0..9");
    if (!reader.rest().empty()) reader.fail("more than 65 numbers");
    if (row >= skip) digits.add(image, label);
  }
  if (digits.size() == 0) reader.fail("no digits after row " + std::to_string(skip));
  return digits;
}

Network load_network(const std::filesystem::path& file) {
  LineReader reader(file);
  Network network;
  network.w1 = read_block(reader, "W1", pixels, hidden);
  network.b1 = read_block(reader, "b1", 1, hidden);
  network.w2 = read_block(reader, "W2", hidden, classes);
  network.b2 = read_block(reader, "b2", 1, classes);
  if (reader.next()) reader.fail("text after the last block");
  return network;
}

}  // namespace digits
