// i32 and i64: arithmetic that wraps, and gather, whose indices only the device sees.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "support/attributes.hpp"
#include "unit/kernels/hand_built_message.hpp"

namespace ringkernel::test {
namespace {

/// Numbers of every size, so that most products and many sums overflow.
template <class T>
std::vector<T> random_integers(std::size_t count, std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  const T extremes[] = {Limits::min(), Limits::max(), -1, 0, 1};
  std::vector<T> integers(count);
  for (T& integer : integers)
    integer = random() % 4 == 0 ? extremes[random() % 5]
                                : static_cast<T>(static_cast<T>(random()) >> (random() % 30));
  return integers;
}

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T>
class Integers : public testing::Test {
 protected:
  /// `op` on tensors of these integers is `expected`, everywhere.
  static void expect(Op op, const std::vector<std::pair<Shape, std::vector<T>>>& inputs,
                     const std::vector<Unsigned<T>>& expected,
                     const OpAttributes& attributes = {}) {
    std::vector<Tensor> zeros;
    for (const auto& [shape, elements] : inputs)
      zeros.push_back({shape, std::vector<float>(elements.size()), dtype_of<T>});
    HandBuiltMessage message(op, zeros, attributes);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      std::memcpy(message.input(i), inputs[i].second.data(), inputs[i].second.size() * sizeof(T));
    for (const Programs& programs : available_programs())
      for (const rk_u32 lanes : {1u, 3u}) {
        message.reset();
        ASSERT_EQ(message.run(programs, lanes), success);
        EXPECT_TRUE(message.guards_are_intact());
        const std::span<const rk_u8> bytes = message.result_bytes();
        ASSERT_EQ(bytes.size(), expected.size() * sizeof(T));
        EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0)
            << programs.level << " lanes " << lanes;
      }
  }

  std::mt19937_64 random{7};
};

using IntegerTypes = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

TYPED_TEST(Integers, AddAndMulWrap) {
  for (const std::uint32_t n : {1u, 15u, 16u, 100u}) {
    const auto x = random_integers<TypeParam>(n, this->random);
    const auto y = random_integers<TypeParam>(n, this->random);
    std::vector<Unsigned<TypeParam>> sums, products, scaled;
    for (std::size_t i = 0; i < n; ++i) {
      const auto a = static_cast<Unsigned<TypeParam>>(x[i]);
      sums.push_back(a + static_cast<Unsigned<TypeParam>>(y[i]));
      products.push_back(a * static_cast<Unsigned<TypeParam>>(y[i]));
      scaled.push_back(a * static_cast<Unsigned<TypeParam>>(y[0]));
    }
    this->expect(Op::add, {{{n}, x}, {{n}, y}}, sums);
    this->expect(Op::mul, {{{n}, x}, {{n}, y}}, products);
    this->expect(Op::mul, {{{n}, x}, {{}, {y[0]}}}, scaled);
  }
}

TYPED_TEST(Integers, MaxAndMinKnowTheSign) {
  for (const std::uint32_t n : {1u, 15u, 16u, 100u}) {
    const auto x = random_integers<TypeParam>(n, this->random);
    const auto y = random_integers<TypeParam>(n, this->random);
    std::vector<Unsigned<TypeParam>> larger, smaller;
    for (std::size_t i = 0; i < n; ++i) {
      larger.push_back(static_cast<Unsigned<TypeParam>>(std::max(x[i], y[i])));
      smaller.push_back(static_cast<Unsigned<TypeParam>>(std::min(x[i], y[i])));
    }
    this->expect(Op::max, {{{n}, x}, {{n}, y}}, larger);
    this->expect(Op::min, {{{n}, x}, {{n}, y}}, smaller);
    this->expect(Op::reduce_max, {{{n}, x}},
                 {static_cast<Unsigned<TypeParam>>(*std::ranges::max_element(x))});
  }
}

TYPED_TEST(Integers, SumsWrap) {
  constexpr std::size_t planes = 6, rows = 7, columns = 50;
  const auto x = random_integers<TypeParam>(planes * rows * columns, this->random);
  const Shape shape{planes, rows, columns};
  Unsigned<TypeParam> total = 0;
  std::vector<Unsigned<TypeParam>> over_rows(planes * columns), over_others(rows);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto element = static_cast<Unsigned<TypeParam>>(x[i]);
    total += element;
    over_rows[i / (rows * columns) * columns + i % columns] += element;
    over_others[i / columns % rows] += element;
  }
  this->expect(Op::sum_all, {{shape, x}}, {total});
  this->expect(Op::sum, {{shape, x}}, {total});
  this->expect(Op::sum, {{shape, x}}, over_rows, reducing({1}, true));
  this->expect(Op::sum, {{shape, x}}, over_others, reducing({0, 2}));
}

TYPED_TEST(Integers, MovesKeepEveryBit) {
  constexpr std::uint32_t rows = 19, columns = 37;
  const auto x = random_integers<TypeParam>(rows * columns, this->random);
  const std::vector<Unsigned<TypeParam>> same(x.begin(), x.end());
  std::vector<Unsigned<TypeParam>> turned, odd_columns;
  for (std::size_t column = 0; column < columns; ++column)
    for (std::size_t row = 0; row < rows; ++row) turned.push_back(same[row * columns + column]);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (i % columns % 2 == 1) odd_columns.push_back(same[i]);
  const Shape shape{rows, columns};
  this->expect(Op::copy, {{shape, x}}, same);
  this->expect(Op::reshape, {{shape, x}}, same, shaped({-1}));
  this->expect(Op::transpose, {{shape, x}}, turned, permuting({1, 0}));
  this->expect(Op::slice, {{shape, x}}, odd_columns, slicing({{0, 1}, {rows, columns}, {1, 2}}));
  this->expect(Op::index, {{shape, x}}, {same[3 * columns + 5]}, indexing({3, 5}));
  for (const std::int64_t count : {1, 7, 33})
    this->expect(Op::fill, {{{1}, {x[1]}}},
                 std::vector<Unsigned<TypeParam>>(static_cast<std::size_t>(count), same[1]),
                 shaped({count}));
}

/// gather of 3 floats for each of 4 rows, by these indices.
template <class T>
HandBuiltMessage gathering(const std::vector<T>& indices) {
  const auto count = static_cast<std::uint32_t>(indices.size());
  const Tensor inputs[] = {{{4, 3}, std::vector<float>(12, 1.0f)},
                           {{count}, std::vector<float>(count), dtype_of<T>}};
  HandBuiltMessage message(Op::gather, inputs);
  std::memcpy(message.input(1), indices.data(), indices.size() * sizeof(T));
  return message;
}

template <class T>
void expect_out_of_bounds(const std::vector<T>& indices, rk_u32 position, std::int32_t told) {
  const rk_u64 detail = rk_u64{position} << 32 | static_cast<rk_u32>(told);
  HandBuiltMessage message = gathering(indices);
  for (const Programs& programs : available_programs())
    for (const rk_u32 lanes : {1u, 3u}) {
      EXPECT_EQ(message.run(programs, lanes), refusal(Errc::index_out_of_bounds, detail));
      EXPECT_TRUE(message.nothing_was_written()) << programs.level << " lanes " << lanes;
    }
}

TYPED_TEST(Integers, GatherNamesTheFirstIndexThatIsOutOfBoundsAndWritesNothing) {
  using Limits = std::numeric_limits<TypeParam>;
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
  expect_out_of_bounds<TypeParam>({4}, 0, 4);
  expect_out_of_bounds<TypeParam>({0, 3, -1}, 2, -1);
  expect_out_of_bounds<TypeParam>({0, 1, 2, 3, 0, 1, 7, -5}, 6, 7);
  expect_out_of_bounds<TypeParam>({0, Limits::min()}, 1, lowest);
  expect_out_of_bounds<TypeParam>({0, Limits::max()}, 1, highest);
}

// The lower half of each is a row that exists.
TEST(Gather, LooksAtAllOfAWideIndex) {
  constexpr std::int64_t wide = std::int64_t{1} << 32;
  expect_out_of_bounds<std::int64_t>({wide + 1}, 0, std::numeric_limits<std::int32_t>::max());
  expect_out_of_bounds<std::int64_t>({0, 2 - wide}, 1, std::numeric_limits<std::int32_t>::min());
}

TEST(Gather, MustHaveAnOutputThatFits) {
  const std::function<void(rk_command&)> spoils[] = {
      [](rk_command& command) { command.output.dims[0] = 1, command.output.dims[1] = 6; },
      [](rk_command& command) { command.output.dims[0] = 3, command.output.dims[1] = 2; },
      [](rk_command& command) {
        command.output.rank = 1;
        command.output.dims[0] = 6;
        command.output.dims[1] = 1;
      },
      [](rk_command& command) {
        command.inputs[0].rank = 0;
        command.inputs[0].dims[0] = command.inputs[0].dims[1] = command.inputs[0].element_count = 1;
      }};
  for (const auto& spoil : spoils) {
    HandBuiltMessage message = gathering<std::int32_t>({0, 1});
    spoil(message.command());
    for (const Programs& programs : available_programs()) {
      EXPECT_EQ(message.run(programs), refusal(Errc::bad_shape, static_cast<rk_u64>(Op::gather)));
      EXPECT_TRUE(message.nothing_was_written());
    }
  }
}

TEST(Index, IsCheckedOnTheDeviceToo) {
  const Tensor input{{4, 3}, std::vector<float>(12, 1.0f)};
  HandBuiltMessage message(Op::index, {&input, 1}, indexing({3, 2}));
  message.command().attrs.index.indices[1] = 3;
  for (const Programs& programs : available_programs()) {
    EXPECT_EQ(message.run(programs), refusal(Errc::index_out_of_bounds, rk_u64{1} << 32 | 3));
    EXPECT_TRUE(message.nothing_was_written());
  }
}

}  // namespace
}  // namespace ringkernel::test
