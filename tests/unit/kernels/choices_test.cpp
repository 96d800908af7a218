// Ops that compare elements, or choose between them: max, min, reduce_max, compare, select; and
// cast. Exact, with NaN, infinities and both zeros among the elements, whichever path through the
// kernel the shapes take, and the same with several lanes.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/attributes.hpp"
#include "unit/kernels/refusal.hpp"

namespace ringkernel::test {
namespace {

constexpr DType each_type[] = {DType::f32, DType::i32, DType::i64};

bool is_same_float(float a, float b) {
  return std::isnan(a) ? std::isnan(b)
                       : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

class Choices : public testing::Test {
 protected:
  /// So few different numbers that many are equal.
  Tensor tensor(const Shape& shape, DType dtype) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float floats[] = {
        0.0f, -0.0f, 1.5f, -2, 3e38f, infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
    constexpr float integers[] = {0, -1, 1, 7, -7, 1 << 30, -(1 << 30), 2};
    Tensor tensor{shape, std::vector<float>(shape.element_count()), dtype};
    for (float& element : tensor.elements)
      element = (dtype == DType::f32 ? floats : integers)[random() % 8];
    return tensor;
  }
  Tensor condition(const Shape& shape) {
    Tensor condition = tensor(shape, DType::i32);
    for (float& element : condition.elements) element = random() % 2 == 0 ? 0 : element;
    return condition;
  }
  Shape shape() {
    std::vector<std::int64_t> dims(random() % 5);
    for (std::int64_t& dim : dims) dim = random_up_to(random, dims.size() < 3 ? 40 : 6);
    return Shape::make(dims).value();
  }
  /// `whole` with some extents made 1 and some leading dims left out.
  Shape part(const Shape& whole) {
    std::vector<std::int64_t> dims(whole.dims().begin(), whole.dims().end());
    for (std::int64_t& dim : dims)
      if (random() % 3 == 0) dim = 1;
    dims.erase(dims.begin(),
               dims.begin() + static_cast<std::ptrdiff_t>(random() % (dims.size() + 1)));
    return Shape::make(dims).value();
  }

  /// The op gives what its definition says, element by element.
  static void expect_exact(Op op, const std::vector<Tensor>& inputs,
                           const OpAttributes& attributes = {}) {
    std::vector<Values> values;
    std::string text(find_op(static_cast<std::uint16_t>(op))->name);
    for (const Tensor& input : inputs) {
      values.push_back(input.values());
      text += " " + input.desc().text();
    }
    const Values expected = reference(op, values, attributes);
    HandBuiltMessage message(op, inputs, attributes);
    ASSERT_EQ(message.result_shape(), expected.shape) << text;
    for (const Programs& programs : available_programs())
      for (const rk_u32 lanes : {1u, 3u}) {
        SCOPED_TRACE(text + " " + programs.level + " lanes " + std::to_string(lanes));
        message.reset();
        ASSERT_EQ(message.run(programs, lanes), success);
        EXPECT_TRUE(message.guards_are_intact());
        const std::vector<float> result = message.result();
        for (std::size_t i = 0; i < result.size(); ++i)
          ASSERT_TRUE(is_same_float(result[i], static_cast<float>(expected.elements[i])))
              << i << ": " << result[i] << ", expected " << expected.elements[i];
      }
  }

  static constexpr int rounds = 40;
  std::mt19937 random{20261127};
};

TEST_F(Choices, MaxAndMinOfEveryType) {
  for (int round = 0; round < rounds; ++round)
    for (const DType dtype : each_type) {
      const Shape whole = shape();
      const Tensor a = tensor(whole, dtype);
      const Tensor b = tensor(round % 2 == 0 ? whole : part(whole), dtype);
      for (const Op op : {Op::max, Op::min}) {
        expect_exact(op, {a, b});
        expect_exact(op, {b, a});
      }
    }
}

TEST_F(Choices, EveryComparisonOfEveryType) {
  for (int round = 0; round < rounds; ++round)
    for (const DType dtype : each_type) {
      const Shape whole = shape();
      const Tensor a = tensor(whole, dtype);
      const Tensor b = tensor(round % 2 == 0 ? whole : part(whole), dtype);
      for (const Comparison comparison :
           {Comparison::equal, Comparison::not_equal, Comparison::less, Comparison::less_equal}) {
        expect_exact(Op::compare, {a, b}, comparing(comparison));
        expect_exact(Op::compare, {b, a}, comparing(comparison));
      }
    }
}

TEST_F(Choices, SelectOfWholeOperandsAndOfParts) {
  for (int round = 0; round < 2 * rounds; ++round)
    for (const DType dtype : each_type) {
      const Shape whole = shape();
      const auto some = [&](int is_whole) { return round % 4 == is_whole ? whole : part(whole); };
      if (round % 4 == 3)
        expect_exact(Op::select, {condition(whole), tensor(whole, dtype), tensor(whole, dtype)});
      expect_exact(Op::select,
                   {condition(some(0)), tensor(some(1), dtype), tensor(some(2), dtype)});
    }
}

// No two of the three have all the extents.
TEST_F(Choices, SelectWhoseOperandsBroadcastEachOther) {
  for (const DType dtype : each_type) {
    expect_exact(Op::select,
                 {condition({5, 1, 1}), tensor({1, 6, 1}, dtype), tensor({1, 1, 7}, dtype)});
    expect_exact(Op::select, {condition({3, 1}), tensor({33}, dtype), tensor({2, 1, 1}, dtype)});
  }
}

TEST_F(Choices, ReduceMaxOverEverySubsetOfTheAxes) {
  const Shape shapes[] = {{5, 6, 7, 8}, {3, 1, 40, 2}, {2, 9, 1, 35}, {17, 16, 3, 1}};
  for (const Shape& whole : shapes)
    for (const DType dtype : each_type) {
      Tensor input = tensor(whole, dtype);
      for (std::size_t i = 0; i < input.elements.size(); ++i)  // else most maxima are NaN
        if (std::isnan(input.elements[i]) && i % 7 != 0) input.elements[i] = -0.0f;
      for (std::uint32_t mask = 0; mask < 16; ++mask) {
        std::vector<std::int64_t> axes;
        for (std::uint32_t dim = 0; dim < 4; ++dim)
          if (((mask >> dim) & 1u) != 0) axes.push_back(dim);
        expect_exact(Op::reduce_max, {input}, reducing(IntList(axes), mask % 2 == 0));
      }
    }
}

TEST_F(Choices, ReduceMaxFindsTheLargestWhereverItIs) {
  for (const std::uint32_t n : {1u, 15u, 31u, 32u, 33u, 63u, 64u, 100u, 1000u})
    for (const float most : {-0.5f, std::numeric_limits<float>::quiet_NaN()})
      for (std::size_t place = 0; place < n; place += n < 64 ? 1 : 37) {
        Tensor row{{n}, std::vector<float>(n, -1.0f)};
        row.elements[place] = most;
        expect_exact(Op::reduce_max, {row}, reducing({0}));
      }
}

// Whatever the order in which they meet.
TEST_F(Choices, ReduceMaxOfZerosIsPlusZero) {
  for (const std::uint32_t n : {1u, 2u, 40u}) {
    Tensor zeros{{n}, std::vector<float>(n, -0.0f)};
    HandBuiltMessage message(Op::reduce_max, {&zeros, 1});
    for (const Programs& programs : available_programs()) {
      message.reset();
      ASSERT_EQ(message.run(programs), success);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(message.result()[0]), 0u);
    }
  }
}

/// select of [2, 3] by [2, 1]. Or [2, 3] compared with [3].
HandBuiltMessage selecting() {
  const Tensor inputs[] = {{{2, 1}, {1, 0}, DType::i32}, ones({2, 3}), ones({3})};
  return {Op::select, inputs};
}
HandBuiltMessage comparing_rows() {
  const Tensor inputs[] = {ones({2, 3}), ones({3})};
  return {Op::compare, inputs};
}

TEST_F(Choices, SelectRefusesShapesThatAreNoBroadcast) {
  const auto bad_shape = refusal(Errc::bad_shape, static_cast<rk_u64>(Op::select));
  const std::pair<rk_u64, std::vector<rk_u32>> shapes[] = {{output_operand, {3, 2}},
                                                           {output_operand, {6}},
                                                           {output_operand, {1, 2, 3}},
                                                           {output_operand, {1, 3}},
                                                           {0, {3, 1}},
                                                           {1, {2, 2}},
                                                           {2, {2}}};
  for (const auto& [which, dims] : shapes)
    expect_refusal(selecting(), bad_shape, [&, which = which, dims = dims](rk_command& command) {
      reshape_operand(which == output_operand ? command.output : command.inputs[which], dims);
    });
}

TEST_F(Choices, RefuseTypesThatTheTableDoesNotAllow) {
  const auto bad_operand = [](rk_u64 which) { return refusal(Errc::bad_operand, which); };
  expect_refusal(selecting(), bad_operand(0),
                 [](rk_command& command) { command.inputs[0].dtype = RK_DTYPE_F32; });
  expect_refusal(selecting(), bad_operand(2),
                 [](rk_command& command) { command.inputs[2].dtype = RK_DTYPE_I32; });
  expect_refusal(selecting(), bad_operand(output_operand),
                 [](rk_command& command) { command.output.dtype = RK_DTYPE_I32; });
  expect_refusal(comparing_rows(), bad_operand(output_operand),
                 [](rk_command& command) { command.output.dtype = RK_DTYPE_F32; });
  expect_refusal(comparing_rows(), bad_operand(1),
                 [](rk_command& command) { command.inputs[1].dtype = RK_DTYPE_I32; });
  const Tensor one = ones({4});
  expect_refusal(HandBuiltMessage(Op::cast, {&one, 1}, casting(DType::i32)),
                 bad_operand(output_operand),
                 [](rk_command& command) { command.output.dtype = RK_DTYPE_NONE; });
}

TEST_F(Choices, CastOfWhatTheOtherTypeHas) {
  for (int round = 0; round < rounds; ++round)
    for (const DType from : each_type)
      for (const DType to : each_type) {
        Tensor input = random_tensor(shape(), random);
        for (float& element : input.elements) {
          element *= 100;
          if (from != DType::f32) element = std::trunc(element) + 0.0f;  // no -0
        }
        input.dtype = from;
        expect_exact(Op::cast, {input}, casting(to));
      }
}

/// Runs `cast` on these elements everywhere.
template <class To, class From>
void expect_casts(const std::vector<std::pair<From, To>>& rows) {
  const auto count = static_cast<std::uint32_t>(rows.size());
  const Tensor zeros{{count}, std::vector<float>(count), dtype_of<From>};
  HandBuiltMessage message(Op::cast, {&zeros, 1}, casting(dtype_of<To>));
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::memcpy(message.input(0) + i * sizeof(From), &rows[i].first, sizeof(From));
  for (const Programs& programs : available_programs()) {
    message.reset();
    ASSERT_EQ(message.run(programs), success);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      To result;
      std::memcpy(&result, message.result_bytes().data() + i * sizeof(To), sizeof(To));
      EXPECT_EQ(result, rows[i].second) << programs.level << " " << rows[i].first;
    }
  }
}

TEST(Cast, ToIntegersEndsAtTheirRange) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  using Narrow = std::numeric_limits<std::int32_t>;
  using Wide = std::numeric_limits<std::int64_t>;
  expect_casts<std::int32_t, float>({{1.99f, 1},
                                     {-1.99f, -1},
                                     {-0.0f, 0},
                                     {nan, 0},
                                     {infinity, Narrow::max()},
                                     {-infinity, Narrow::min()},
                                     {2147483648.0f, Narrow::max()},
                                     {2147483520.0f, 2147483520},
                                     {-2147483648.0f, Narrow::min()},
                                     {-2147483904.0f, Narrow::min()}});
  expect_casts<std::int64_t, float>({{-7.5f, -7},
                                     {nan, 0},
                                     {infinity, Wide::max()},
                                     {-infinity, Wide::min()},
                                     {9223372036854775808.0f, Wide::max()},
                                     {9223371487098961920.0f, 9223371487098961920},
                                     {-9223372036854775808.0f, Wide::min()},
                                     {-1e30f, Wide::min()}});
}

TEST(Cast, ToFloatsRoundsToEven) {
  expect_casts<float, std::int32_t>({{16777217, 16777216.0f},
                                     {16777219, 16777220.0f},
                                     {std::numeric_limits<std::int32_t>::max(), 2147483648.0f},
                                     {std::numeric_limits<std::int32_t>::min(), -2147483648.0f}});
  // 2^40 + 2^16 lies between two floats, and one more does not.
  constexpr std::int64_t tie = (std::int64_t{1} << 40) + (1 << 16);
  expect_casts<float, std::int64_t>({{tie, 1099511627776.0f},
                                     {tie + 1, 1099511758848.0f},
                                     {-1, -1.0f},
                                     {std::numeric_limits<std::int64_t>::min(), -0x1p63f}});
}

TEST(Cast, BetweenIntegersKeepsTheLowerBits) {
  constexpr std::int64_t wide = (std::int64_t{5} << 32) + 7;
  expect_casts<std::int32_t, std::int64_t>(
      {{wide, 7}, {-wide, -7}, {-1, -1}, {1u << 31, INT32_MIN}});
  expect_casts<std::int64_t, std::int32_t>({{-1, -1}, {INT32_MIN, INT32_MIN}, {7, 7}});
}

}  // namespace
}  // namespace ringkernel::test
