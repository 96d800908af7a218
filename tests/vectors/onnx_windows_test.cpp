// Grouped convolutions and pools of ONNX on random shapes, against their definitions in ONNX's own
// order of dims: its node tests have no groups, and few pads.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "support/backends.hpp"
#include "vectors/onnx_network.hpp"

namespace ringkernel::onnx {
namespace {

using test::any_floats;
using test::attribute;
using test::integer_attribute;
using test::Known;
using test::Message;
using test::Network;

class OnnxWindowsOn : public ringkernel::test::OnEachBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, OnnxWindowsOn,
                         ::testing::ValuesIn(ringkernel::test::backend_names()),
                         ringkernel::test::backend_label);

/// Two axes, or the one of a line.
using Axes = std::vector<std::int64_t>;

/// Windows of one node, and where they lie.
struct Windows {
  Axes images;
  Axes extents;
  Axes strides;
  Axes before;
  Axes after;
  bool is_ceiled = false;

  [[nodiscard]] std::int64_t outputs(std::size_t axis) const {
    const std::int64_t spare = images[axis] + before[axis] + after[axis] - extents[axis];
    std::int64_t count = spare / strides[axis] + 1;
    // The last one must begin before the image ends.
    if (is_ceiled && spare % strides[axis] != 0 &&
        count * strides[axis] < images[axis] + before[axis])
      ++count;
    return count;
  }
  [[nodiscard]] std::vector<Message> attributes() const {
    Axes pads = before;
    pads.insert(pads.end(), after.begin(), after.end());
    return {attribute("kernel_shape", extents), attribute("strides", strides),
            attribute("pads", pads), integer_attribute("ceil_mode", is_ceiled ? 1 : 0)};
  }
};

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}

  std::int64_t up_to(std::int64_t limit) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit)) + 1;
  }
  Windows windows(std::size_t axes) {
    Windows made;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      made.extents.push_back(up_to(4));
      made.images.push_back(made.extents[axis] + up_to(9) - 1);
      made.strides.push_back(up_to(3));
      made.before.push_back(up_to(made.extents[axis]) - 1);
      made.after.push_back(up_to(made.extents[axis]) - 1);
    }
    return made;
  }
  Known tensor(const std::string& name, std::int64_t first, std::int64_t second, const Axes& axes) {
    Known made{name, {first, second}, {}};
    made.dims.insert(made.dims.end(), axes.begin(), axes.end());
    std::size_t count = 1;
    for (const std::int64_t dim : made.dims) count *= static_cast<std::size_t>(dim);
    made.elements = any_floats(count, random_);
    return made;
  }

 private:
  std::mt19937 random_;
};

/// Calls `each(y, x)` for each place of two axes, or `each(0, x)`.
void for_each(const Axes& extents, const auto& each) {
  const std::int64_t rows = extents.size() == 2 ? extents[0] : 1;
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < extents.back(); ++x) each(y, x);
}

std::int64_t at(const Axes& list, std::int64_t of_a_line, std::size_t axis) {
  return list.size() == 2 ? list[axis] : axis == 1 ? list[0] : of_a_line;
}

/// An element of plane [n, channel]; nothing where there is padding.
const float* element(const Known& x, std::int64_t n, std::int64_t channel, std::int64_t row,
                     std::int64_t column) {
  const Axes axes(x.dims.begin() + 2, x.dims.end());
  const std::int64_t rows = at(axes, 1, 0);
  const std::int64_t columns = at(axes, 1, 1);
  if (row < 0 || row >= rows || column < 0 || column >= columns) return nullptr;
  return &x.elements[static_cast<std::size_t>(((n * x.dims[1] + channel) * rows + row) * columns +
                                              column)];
}

/// `value(n, channel, top, left)` for each window of each plane, in the order of ONNX.
std::vector<double> slide(const Windows& windows, std::int64_t images, std::int64_t channels,
                          const auto& value) {
  Axes outputs;
  for (std::size_t axis = 0; axis < windows.images.size(); ++axis)
    outputs.push_back(windows.outputs(axis));
  std::vector<double> values;
  for (std::int64_t n = 0; n < images; ++n)
    for (std::int64_t channel = 0; channel < channels; ++channel)
      for_each(outputs, [&](std::int64_t y, std::int64_t x) {
        values.push_back(value(n, channel, y * at(windows.strides, 1, 0) - at(windows.before, 0, 0),
                               x * at(windows.strides, 1, 1) - at(windows.before, 0, 1)));
      });
  return values;
}

void expect_values(RingKernelRuntime& runtime, const Network& network,
                   const std::vector<double>& expected) {
  const auto result = network.run(runtime);
  ASSERT_TRUE(result) << result.error().text();
  const auto got = result->elements<float>(0);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5) << i;
}

TEST_P(OnnxWindowsOn, ConvolutionsInGroupsAreThoseOfOnnx) {
  auto runtime = open();
  for (unsigned seed = 0; seed < 30 && !HasFatalFailure(); ++seed) {
    Random random(seed);
    const Windows windows = random.windows(1 + seed % 2);
    const bool is_depthwise = seed % 3 == 0;
    const std::int64_t groups = random.up_to(is_depthwise ? 20 : 4);
    const std::int64_t channels = is_depthwise ? 1 : random.up_to(3);
    const std::int64_t outputs = is_depthwise ? 1 : random.up_to(3);
    const Known x = random.tensor("x", 2, groups * channels, windows.images);
    const Known w = random.tensor("w", groups * outputs, channels, windows.extents);
    Network network;
    network.input(x);
    std::vector<Message> attributes = windows.attributes();
    attributes.push_back(integer_attribute("group", groups));
    network.add({"Conv", {"x", "w"}, attributes, {test::tensor(w)}}, "y");
    network.output("y");
    expect_values(
        runtime, network,
        slide(windows, 2, groups * outputs,
              [&](std::int64_t n, std::int64_t output, std::int64_t top, std::int64_t left) {
                double sum = 0;
                for (std::int64_t channel = 0; channel < channels; ++channel)
                  for_each(windows.extents, [&](std::int64_t y, std::int64_t column) {
                    const float* const found = element(x, n, output / outputs * channels + channel,
                                                       top + y, left + column);
                    if (found != nullptr)
                      sum += static_cast<double>(*found) * *element(w, output, channel, y, column);
                  });
                return sum;
              }));
  }
}

TEST_P(OnnxWindowsOn, PoolsAreThoseOfOnnx) {
  auto runtime = open();
  for (unsigned seed = 0; seed < 60 && !HasFatalFailure(); ++seed) {
    Random random(seed);
    Windows windows = random.windows(1 + seed % 2);
    windows.is_ceiled = seed % 4 < 2;
    const bool is_average = seed % 3 != 0;
    const bool counts_pads = seed % 3 == 1;
    const Known x = random.tensor("x", 2, random.up_to(5), windows.images);
    Network network;
    network.input(x);
    std::vector<Message> attributes = windows.attributes();
    if (counts_pads) attributes.push_back(integer_attribute("count_include_pad", 1));
    network.add({is_average ? "AveragePool" : "MaxPool", {"x"}, attributes, {}}, "y");
    network.output("y");
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_values(
        runtime, network,
        slide(windows, 2, x.dims[1],
              [&](std::int64_t n, std::int64_t channel, std::int64_t top, std::int64_t left) {
                double sum = 0, count = 0, largest = -std::numeric_limits<double>::infinity();
                for_each(windows.extents, [&](std::int64_t y, std::int64_t column) {
                  const float* const found = element(x, n, channel, top + y, left + column);
                  // What 'ceil_mode' adds behind the pads is not counted.
                  const bool is_pad =
                      top + y < at(windows.images, 1, 0) + at(windows.after, 0, 0) &&
                      left + column < at(windows.images, 1, 1) + at(windows.after, 0, 1);
                  if (found != nullptr || (counts_pads && is_pad)) ++count;
                  if (found == nullptr) return;
                  sum += *found;
                  largest = std::max(largest, static_cast<double>(*found));
                });
                return is_average ? sum / count : largest;
              }));
  }
}

}  // namespace
}  // namespace ringkernel::onnx
