// Ops that only move elements, of every type: exact, whichever path through the kernel the shapes
// take, and the same with several lanes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/attributes.hpp"
#include "unit/kernels/hand_built_message.hpp"

namespace ringkernel::test {
namespace {

constexpr DType every_type[] = {DType::f32, DType::i32, DType::i64};

class Moves : public testing::Test {
 protected:
  std::uint32_t up_to(std::uint32_t limit) { return random_up_to(random, limit); }
  /// Whole numbers, which are the same in every type.
  Tensor tensor(const Shape& shape, DType dtype) {
    Tensor tensor = random_tensor(shape, random);
    for (float& element : tensor.elements) element = std::trunc(element * 1000);
    tensor.dtype = dtype;
    return tensor;
  }
  /// `rank` extents of up to `limit`.
  std::vector<std::int64_t> dims(std::size_t rank, std::uint32_t limit) {
    std::vector<std::int64_t> dims(rank);
    for (std::int64_t& dim : dims) dim = up_to(limit);
    return dims;
  }

  static void expect_exact(Op op, std::span<const Tensor> inputs,
                           const OpAttributes& attributes = {}) {
    std::vector<Values> values;
    for (const Tensor& input : inputs) values.push_back(input.values());
    const Values expected = reference(op, values, attributes);
    const std::vector<float> elements(expected.elements.begin(), expected.elements.end());
    HandBuiltMessage message(op, inputs, attributes);
    ASSERT_EQ(message.result_shape(), expected.shape);
    for (const Programs& programs : available_programs())
      for (const rk_u32 lanes : {1u, 3u}) {
        SCOPED_TRACE(inputs[0].desc().text() + " " + programs.level + " lanes " +
                     std::to_string(lanes));
        message.reset();
        ASSERT_EQ(message.run(programs, lanes), success);
        EXPECT_TRUE(message.guards_are_intact());
        EXPECT_EQ(message.result(), elements);
      }
  }

  std::mt19937 random{11};
};

TEST_F(Moves, ExpandDimsAndSqueezeKeepTheOrder) {
  for (const DType dtype : every_type) {
    const Tensor input = tensor({5, 1, 7, 1}, dtype);
    expect_exact(Op::expand_dims, {&input, 1}, reducing({0, 5, 2}));
    expect_exact(Op::squeeze, {&input, 1}, reducing({3}));
    expect_exact(Op::squeeze, {&input, 1});
  }
}

TEST_F(Moves, ConcatAlongEveryAxis) {
  for (std::size_t rank = 1; rank <= 4; ++rank)
    for (int round = 0; round < 12; ++round)
      for (const DType dtype : every_type) {
        const std::vector<std::int64_t> first = dims(rank, rank < 3 ? 40 : 7);
        std::vector<std::int64_t> second = first;
        const auto axis = static_cast<std::size_t>(round) % rank;
        second[axis] = up_to(40);
        const Tensor inputs[] = {tensor(Shape::make(first).value(), dtype),
                                 tensor(Shape::make(second).value(), dtype)};
        expect_exact(Op::concat, inputs, reducing({static_cast<std::int64_t>(axis)}));
      }
}

TEST_F(Moves, TransposeToEveryOrderOfTheDims) {
  const Shape shapes[] = {{},          {9},          {3, 50},        {17, 33},     {5, 6, 7},
                          {16, 2, 20}, {3, 4, 5, 6}, {2, 1, 18, 19}, {1, 40, 1, 3}};
  for (const Shape& shape : shapes)
    for (const DType dtype : every_type) {
      const Tensor input = tensor(shape, dtype);
      std::vector<std::int64_t> permutation(shape.rank());
      std::iota(permutation.begin(), permutation.end(), 0);
      do expect_exact(Op::transpose, {&input, 1}, permuting(IntList(permutation)));
      while (std::ranges::next_permutation(permutation).found);
    }
}

// Tiles are whole, cut on one side, or on both.
TEST_F(Moves, TransposeAtEveryEdgeOfItsTiles) {
  for (const std::uint32_t rows : {1u, 2u, 15u, 16u, 17u, 31u, 32u, 33u})
    for (const std::uint32_t columns : {1u, 2u, 15u, 16u, 17u, 31u, 32u, 33u}) {
      const Tensor input = tensor({rows, columns}, DType::f32);
      expect_exact(Op::transpose, {&input, 1}, permuting({1, 0}));
    }
}

TEST_F(Moves, SliceAndIndexOfRandomShapes) {
  for (int round = 0; round < 120; ++round) {
    const std::vector<std::int64_t> extents = dims(random() % 5, 9);
    std::vector<std::int64_t> starts, ends, steps;
    for (const std::int64_t extent : extents) {
      ends.push_back(up_to(static_cast<std::uint32_t>(extent)));
      starts.push_back(up_to(static_cast<std::uint32_t>(ends.back())) - 1);
      steps.push_back(random() % 2 == 0 ? 1 : up_to(5));
    }
    const SliceRanges ranges{IntList(starts), IntList(ends), IntList(steps)};
    for (const DType dtype : every_type) {
      const Tensor input = tensor(Shape::make(extents).value(), dtype);
      expect_exact(Op::slice, {&input, 1}, slicing(ranges));
      expect_exact(Op::index, {&input, 1}, indexing(IntList(starts)));
    }
  }
}

TEST_F(Moves, SliceOfLongRuns) {
  for (const DType dtype : every_type) {
    const Tensor input = tensor({6, 3, 50}, dtype);
    expect_exact(Op::slice, {&input, 1}, slicing({{1, 0, 0}, {5, 3, 50}, {2, 1, 1}}));
    expect_exact(Op::slice, {&input, 1}, slicing({{1, 0, 7}, {5, 2, 49}, {1, 1, 1}}));
    expect_exact(Op::slice, {&input, 1}, slicing({{0, 1, 3}, {6, 3, 49}, {1, 1, 5}}));
  }
}

TEST_F(Moves, PadRandomShapes) {
  for (int round = 0; round < 120; ++round) {
    const std::vector<std::int64_t> extents = dims(random() % 5, 9);
    std::vector<std::int64_t> low, high;
    for (std::size_t dim = 0; dim < extents.size(); ++dim) {
      low.push_back(random() % 2 == 0 ? 0 : up_to(5));
      high.push_back(random() % 2 == 0 ? 0 : up_to(5));
    }
    for (const DType dtype : every_type) {
      const Tensor inputs[] = {tensor(Shape::make(extents).value(), dtype), tensor({}, dtype)};
      expect_exact(Op::pad, inputs, enclosing(IntList(low), IntList(high)));
    }
  }
}

TEST_F(Moves, PadLongRunsAndEveryDimOfMany) {
  for (const DType dtype : every_type) {
    const Tensor rows[] = {tensor({6, 3, 50}, dtype), tensor({4}, dtype)};
    expect_exact(Op::pad, rows, enclosing({0, 0, 17}, {0, 0, 40}));
    expect_exact(Op::pad, rows, enclosing({0, 2, 0}, {0, 1, 0}));
    expect_exact(Op::pad, rows, enclosing({2, 1, 0}, {1, 0, 0}));
    expect_exact(Op::pad, rows, enclosing({0, 0, 0}, {0, 0, 0}));
    const Tensor many[] = {tensor({1, 2, 1, 2, 1, 2, 1, 2}, dtype), tensor({}, dtype)};
    expect_exact(Op::pad, many, enclosing({1, 0, 1, 0, 1, 0, 1, 1}, {0, 1, 1, 0, 0, 1, 1, 0}));
  }
}

TEST_F(Moves, GatherOfRandomShapes) {
  for (int round = 0; round < 60; ++round) {
    const std::vector<std::int64_t> extents = dims(1 + random() % 3, 20);
    Tensor indices = tensor(Shape::make(dims(random() % 3, 9)).value(), DType::i32);
    for (float& index : indices.elements)
      index = static_cast<float>(up_to(static_cast<std::uint32_t>(extents[0])) - 1);
    for (const DType dtype : every_type) {
      indices.dtype = random() % 2 == 0 ? DType::i32 : DType::i64;
      const Tensor inputs[] = {tensor(Shape::make(extents).value(), dtype), indices};
      expect_exact(Op::gather, inputs);
    }
  }
}

// Lanes may run at the same time, so no element may be written by two of them.
TEST_F(Moves, LanesDivideTheOutputBetweenThem) {
  const Tensor square = random_tensor({70, 70}, random);
  const Tensor gathered[] = {square, {{5}, {3, 1, 4, 1, 5}, DType::i64}};
  const Tensor enclosed[] = {square, {{}, {3}}};
  HandBuiltMessage messages[] = {{Op::expand_dims, {&square, 1}, reducing({0})},
                                 {Op::squeeze, {&square, 1}},
                                 {Op::transpose, {&square, 1}, permuting({1, 0})},
                                 {Op::slice, {&square, 1}, slicing({{1, 2}, {60, 70}, {1, 2}})},
                                 {Op::index, {&square, 1}, indexing({3, 4})},
                                 {Op::pad, enclosed, enclosing({1, 0}, {2, 3})},
                                 {Op::gather, gathered}};
  for (HandBuiltMessage& message : messages)
    for (const Programs& programs : available_programs()) {
      SCOPED_TRACE(programs.level + " op " + std::to_string(message.command().op));
      message.reset();
      const std::vector<float> before = message.result();
      std::vector<int> writers(before.size());
      for (const rk_u32 lane : {0u, 1u, 2u}) {
        message.reset();
        EXPECT_EQ(programs.core(message.memory(), lane, 3), success);
        const std::vector<float> after = message.result();
        for (std::size_t i = 0; i < after.size(); ++i) writers[i] += after[i] != before[i];
      }
      EXPECT_EQ(writers, std::vector<int>(before.size(), 1));
    }
}

}  // namespace
}  // namespace ringkernel::test
