// The orders of accumulation that docs/OPS.md writes down, spelled out in plain scalar C++: the
// kernels must give these bits, so a change of order cannot slip in.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

#include "support/attributes.hpp"
#include "unit/kernels/hand_built_message.hpp"

namespace ringkernel::test {
namespace {

std::vector<std::uint32_t> bits_of(const std::vector<float>& elements) {
  std::vector<std::uint32_t> bits;
  for (const float element : elements) bits.push_back(std::bit_cast<std::uint32_t>(element));
  return bits;
}

std::vector<float> run(const Programs& programs, Op op, std::span<const Tensor> inputs,
                       const OpAttributes& attributes = {}, rk_u32 lanes = 1) {
  HandBuiltMessage message(op, inputs, attributes);
  EXPECT_EQ(message.run(programs, lanes), success);
  return message.result();
}

float chunk_sum(std::span<const float> chunk) {
  std::array<float, 16> lanes{};
  for (std::size_t i = 0; i < chunk.size(); ++i) lanes[i % 16] += chunk[i];
  for (std::size_t width = 8; width != 0; width /= 2)
    for (std::size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  return lanes[0];
}

/// Sums of equal weight meet as in a binary counter; the rest is added from light to heavy.
float tree_sum(std::span<const float> elements) {
  struct Partial {
    std::size_t weight;
    float sum;
  };
  std::vector<Partial> partials;
  const auto merge_last_two = [&partials] {
    const Partial light = partials.back();
    partials.pop_back();
    partials.back() = {partials.back().weight + light.weight, partials.back().sum + light.sum};
  };
  for (std::size_t begin = 0; begin < elements.size(); begin += 256) {
    const std::size_t length = std::min<std::size_t>(256, elements.size() - begin);
    partials.push_back({1, chunk_sum(elements.subspan(begin, length))});
    while (partials.size() > 1 && partials.end()[-2].weight == partials.back().weight)
      merge_last_two();
  }
  while (partials.size() > 1) merge_last_two();
  return partials[0].sum;
}

float blocked_dot(const Tensor& a, const Tensor& b, std::size_t row, std::size_t column) {
  const std::size_t depth = a.shape[1];
  const std::size_t columns = b.shape[1];
  float total = 0;
  for (std::size_t begin = 0; begin < depth; begin += 128) {
    float block = 0;
    for (std::size_t k = begin; k < std::min(begin + 128, depth); ++k)
      block = std::fma(a.elements[row * depth + k], b.elements[k * columns + column], block);
    total += block;
  }
  return total;
}

class Order : public testing::Test {
 protected:
  std::mt19937 random{5};
};

TEST_F(Order, OfSumsIsTheWrittenTree) {
  for (const std::uint32_t n : {1u, 16u, 17u, 256u, 257u, 600u, 1024u, 1900u, 100001u}) {
    const Tensor input = random_tensor({n}, random);
    const std::vector<float> expected{tree_sum(input.elements)};
    for (const Programs& programs : available_programs()) {
      SCOPED_TRACE(programs.level + " n " + std::to_string(n));
      EXPECT_EQ(bits_of(run(programs, Op::sum_all, {&input, 1})), bits_of(expected));
      EXPECT_EQ(bits_of(run(programs, Op::sum, {&input, 1}, reducing({0}))), bits_of(expected));
    }
  }
}

TEST_F(Order, OfMeansIsTheSumDividedOnce) {
  const Tensor input = random_tensor({7, 301}, random);
  std::vector<float> expected;
  for (std::size_t row = 0; row < 7; ++row)
    expected.push_back(tree_sum(std::span(input.elements).subspan(row * 301, 301)) / 301.0f);
  for (const Programs& programs : available_programs())
    EXPECT_EQ(bits_of(run(programs, Op::mean, {&input, 1}, reducing({1}))), bits_of(expected));
}

TEST_F(Order, OfMeanAllIsTheSumOfAllDividedOnce) {
  const Tensor input = random_tensor({7, 301}, random);
  const std::vector<float> expected{tree_sum(input.elements) / 2107.0f};
  for (const Programs& programs : available_programs())
    EXPECT_EQ(bits_of(run(programs, Op::mean_all, {&input, 1})), bits_of(expected));
}

// Outer axes, with neighbours summed side by side, and a reduction over two separate dims.
TEST_F(Order, OfSumsOverOtherAxesIsTheTreeOverTheirRowMajorIndex) {
  const Tensor input = random_tensor({20, 19, 18}, random);
  std::vector<float> over_first, over_outer;
  for (std::size_t j = 0; j < 19 * 18; ++j) {
    std::vector<float> column;
    for (std::size_t i = 0; i < 20; ++i) column.push_back(input.elements[i * 19 * 18 + j]);
    over_first.push_back(tree_sum(column));
  }
  for (std::size_t j = 0; j < 19; ++j) {
    std::vector<float> plane;
    for (std::size_t i = 0; i < 20; ++i)
      for (std::size_t k = 0; k < 18; ++k) plane.push_back(input.elements[(i * 19 + j) * 18 + k]);
    over_outer.push_back(tree_sum(plane));
  }
  for (const Programs& programs : available_programs()) {
    EXPECT_EQ(bits_of(run(programs, Op::sum, {&input, 1}, reducing({0}))), bits_of(over_first));
    EXPECT_EQ(bits_of(run(programs, Op::sum, {&input, 1}, reducing({0, 2}))), bits_of(over_outer));
  }
}

// One row, whose blocks are done side by side; few columns; and of these one whose B is too large
// to be packed whole. The last ones have more rows than the 192, and more terms than the 512, that
// are held at a time.
TEST_F(Order, OfMatmulIsAscendingInBlocksOf128) {
  const std::array<std::uint32_t, 3> sizes[] = {
      {1, 64, 32},   {1, 784, 10},  {1, 129, 16},   {1, 640, 100},   {1, 3, 1},
      {1, 700, 5},   {50, 300, 10}, {200, 129, 16}, {31, 1, 5},      {7, 256, 1},
      {8, 384, 15},  {2, 30000, 9}, {3, 300, 17},   {12, 128, 32},   {13, 129, 33},
      {30, 500, 70}, {1, 1100, 70}, {192, 512, 32}, {199, 1050, 45}, {397, 513, 33}};
  for (const auto& [rows, depth, columns] : sizes) {
    const Tensor inputs[] = {random_tensor({rows, depth}, random),
                             random_tensor({depth, columns}, random)};
    std::vector<float> expected;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column)
        expected.push_back(blocked_dot(inputs[0], inputs[1], row, column));
    for (const Programs& programs : available_programs()) {
      SCOPED_TRACE(programs.level + " " + inputs[0].desc().text() + inputs[1].desc().text());
      EXPECT_EQ(bits_of(run(programs, Op::matmul, inputs)), bits_of(expected));
      EXPECT_EQ(bits_of(run(programs, Op::matmul, inputs, {}, 3)), bits_of(expected));
    }
  }
}

TEST_F(Order, OfDotIsThatOfTheMatmul) {
  for (const std::uint32_t depth : {1u, 16u, 127u, 128u, 129u, 500u, 4096u}) {
    const Tensor matrix = random_tensor({13, depth}, random);
    const Tensor column = random_tensor({depth, 1}, random);
    const Tensor wide = random_tensor({depth, 35}, random);
    const auto as_vector = [depth](const Tensor& tensor) {
      return Tensor{{depth}, tensor.elements};
    };
    const Tensor row{{1, depth}, column.elements};
    const std::pair<std::vector<Tensor>, std::vector<Tensor>> pairs[] = {
        {{as_vector(row), as_vector(column)}, {row, column}},
        {{matrix, as_vector(column)}, {matrix, column}},
        {{as_vector(row), wide}, {row, wide}},
        {{matrix, wide}, {matrix, wide}}};
    for (const auto& [dot, matmul] : pairs)
      for (const Programs& programs : available_programs()) {
        SCOPED_TRACE(programs.level + " K " + std::to_string(depth));
        EXPECT_EQ(bits_of(run(programs, Op::dot, dot)), bits_of(run(programs, Op::matmul, matmul)));
      }
  }
}

/// The windows of `images` as a matrix, written out element by element: one row for each output
/// position, columns by filter row, filter column, channel. `pads` as in rk_attrs_conv2d.
Tensor windows_of(const Tensor& images, const Shape& filter, const Shape& output,
                  const std::array<std::uint32_t, 2>& strides,
                  const std::array<std::uint32_t, 4>& pads) {
  const std::uint32_t channels = images.shape[3];
  Tensor windows{{output[0] * output[1] * output[2], filter[0] * filter[1] * channels}, {}};
  for (std::uint32_t n = 0; n < output[0]; ++n)
    for (std::uint32_t y = 0; y < output[1]; ++y)
      for (std::uint32_t x = 0; x < output[2]; ++x)
        for (std::uint32_t i = 0; i < filter[0]; ++i)
          for (std::uint32_t j = 0; j < filter[1]; ++j)
            for (std::uint32_t channel = 0; channel < channels; ++channel) {
              const std::uint32_t row = y * strides[0] + i - pads[0];  // wraps: then not an index
              const std::uint32_t column = x * strides[1] + j - pads[2];
              const bool is_inside = row < images.shape[1] && column < images.shape[2];
              const std::size_t at =
                  ((std::size_t{n} * images.shape[1] + row) * images.shape[2] + column) * channels +
                  channel;
              windows.elements.push_back(is_inside ? images.elements[at] : 0.0f);
            }
  return windows;
}

/// Channels `first` to `first + count` of each place, the last dim.
Tensor channels_of(const Tensor& tensor, std::uint32_t first, std::uint32_t count) {
  const std::uint32_t all = tensor.shape[3];
  Tensor part{{tensor.shape[0], tensor.shape[1], tensor.shape[2], count}, {}};
  for (std::size_t at = first; at < tensor.elements.size(); at += all)
    for (std::size_t i = 0; i < count; ++i) part.elements.push_back(tensor.elements[at + i]);
  return part;
}

// Depthwise with few and with many channels, and with a filter of more than one block; groups of
// several channels and outputs, with blocks that end in the midst of a row.
TEST_F(Order, OfConv2dInGroupsIsThatOfEachGroupAlone) {
  struct Sizes {
    Shape images;
    Shape filter;
    std::uint32_t groups;
    std::array<std::uint32_t, 2> strides;
    std::array<std::uint32_t, 4> pads;
  };
  const Sizes all[] = {{{1, 9, 21, 16}, {3, 3, 1, 16}, 16, {1, 1}, {1, 1, 1, 1}},
                       {{2, 9, 40, 35}, {3, 3, 1, 35}, 35, {2, 2}, {0, 1, 0, 1}},
                       {{2, 7, 30, 8}, {5, 5, 1, 8}, 8, {1, 1}, {2, 2, 2, 2}},
                       {{1, 1, 33, 3}, {1, 4, 1, 3}, 3, {1, 2}, {0, 0, 3, 0}},
                       {{1, 14, 17, 20}, {12, 11, 1, 20}, 20, {1, 1}, {5, 6, 5, 5}},
                       {{1, 4, 5, 18}, {2, 2, 1, 18}, 18, {1, 1}, {3, 0, 4, 7}},
                       {{2, 6, 12, 12}, {3, 3, 3, 8}, 4, {1, 1}, {1, 1, 1, 1}},
                       {{1, 5, 9, 100}, {2, 3, 50, 46}, 2, {2, 1}, {0, 1, 1, 0}},
                       {{1, 6, 11, 5}, {3, 2, 1, 15}, 5, {1, 1}, {0, 0, 1, 0}}};
  for (const Sizes& sizes : all) {
    const Tensor inputs[] = {random_tensor(sizes.images, random),
                             random_tensor(sizes.filter, random)};
    const OpAttributes attributes = grouped(
        sizes.groups, sliding({sizes.strides[0], sizes.strides[1]}, Padding::custom,
                              {sizes.pads[0], sizes.pads[1], sizes.pads[2], sizes.pads[3]}));
    const Shape output = HandBuiltMessage(Op::conv2d, inputs, attributes).result_shape();
    const std::uint32_t channels = sizes.filter[2];
    const std::uint32_t outputs = sizes.filter[3] / sizes.groups;
    std::vector<float> expected(output.element_count());
    for (std::uint32_t group = 0; group < sizes.groups; ++group) {
      const Tensor windows = windows_of(channels_of(inputs[0], group * channels, channels),
                                        sizes.filter, output, sizes.strides, sizes.pads);
      const Tensor filter{{windows.shape[1], outputs},
                          channels_of(inputs[1], group * outputs, outputs).elements};
      for (std::size_t row = 0; row < windows.shape[0]; ++row)
        for (std::size_t column = 0; column < outputs; ++column)
          expected[row * output[3] + group * outputs + column] =
              blocked_dot(windows, filter, row, column);
    }
    for (const Programs& programs : available_programs()) {
      SCOPED_TRACE(programs.level + " " + sizes.images.text() + " " + sizes.filter.text());
      EXPECT_EQ(bits_of(run(programs, Op::conv2d, inputs, attributes)), bits_of(expected));
      EXPECT_EQ(bits_of(run(programs, Op::conv2d, inputs, attributes, 3)), bits_of(expected));
    }
  }
}

// Small filters, several blocks of K, strides wider than the filter, and padding wider than it.
// Few outputs, from images with and without padding, and from one that is too large to be padded.
TEST_F(Order, OfConv2dIsThatOfMatmulOverItsWindows) {
  struct Sizes {
    Shape images;
    Shape filter;
    std::array<std::uint32_t, 2> strides;
    std::array<std::uint32_t, 4> pads;
  };
  const Sizes all[] = {{{1, 28, 28, 1}, {3, 3, 1, 8}, {2, 2}, {0, 1, 0, 1}},
                       {{3, 7, 8, 8}, {3, 3, 8, 16}, {2, 2}, {0, 0, 0, 0}},
                       {{2, 8, 9, 3}, {1, 1, 3, 4}, {1, 4}, {0, 0, 0, 0}},
                       {{2, 6, 7, 20}, {3, 3, 20, 7}, {3, 1}, {2, 0, 0, 2}},
                       {{1, 300, 400, 1}, {3, 3, 1, 2}, {1, 1}, {1, 1, 1, 1}},
                       {{1, 4, 5, 1}, {1, 1, 1, 1}, {1, 1}, {0, 0, 0, 0}},
                       {{2, 7, 9, 3}, {3, 2, 3, 5}, {1, 1}, {1, 1, 1, 1}},
                       {{1, 9, 8, 32}, {3, 3, 32, 33}, {2, 3}, {1, 0, 2, 1}},
                       {{3, 6, 6, 40}, {4, 1, 40, 17}, {1, 2}, {0, 3, 0, 0}},
                       {{1, 2, 2, 7}, {2, 5, 7, 20}, {1, 1}, {3, 4, 6, 5}},
                       {{1, 20, 20, 2}, {5, 5, 2, 64}, {1, 1}, {2, 2, 2, 2}},
                       {{2, 12, 12, 60}, {3, 3, 60, 20}, {1, 1}, {0, 0, 0, 0}}};
  for (const Sizes& sizes : all) {
    const Tensor inputs[] = {random_tensor(sizes.images, random),
                             random_tensor(sizes.filter, random)};
    const OpAttributes attributes =
        sliding({sizes.strides[0], sizes.strides[1]}, Padding::custom,
                {sizes.pads[0], sizes.pads[1], sizes.pads[2], sizes.pads[3]});
    const Shape output = HandBuiltMessage(Op::conv2d, inputs, attributes).result_shape();
    const Tensor windows = windows_of(inputs[0], sizes.filter, output, sizes.strides, sizes.pads);
    const Tensor filter{{windows.shape[1], output[3]}, inputs[1].elements};
    std::vector<float> expected;
    for (std::size_t row = 0; row < windows.shape[0]; ++row)
      for (std::size_t column = 0; column < output[3]; ++column)
        expected.push_back(blocked_dot(windows, filter, row, column));
    for (const Programs& programs : available_programs()) {
      SCOPED_TRACE(programs.level + " " + sizes.images.text() + " " + sizes.filter.text());
      EXPECT_EQ(bits_of(run(programs, Op::conv2d, inputs, attributes)), bits_of(expected));
      EXPECT_EQ(bits_of(run(programs, Op::conv2d, inputs, attributes, 3)), bits_of(expected));
    }
  }
}

}  // namespace
}  // namespace ringkernel::test
