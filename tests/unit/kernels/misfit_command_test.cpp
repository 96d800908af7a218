// Commands whose operands are sound each by itself but do not fit each other: refused, and nothing
// is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "support/attributes.hpp"
#include "unit/kernels/refusal.hpp"

namespace ringkernel::test {
namespace {

struct Misfit {
  const char* what;
  Op op;
  std::vector<Shape> inputs;
  OpAttributes attributes;
  Spoil spoil;
};

/// Each operand is sound, but they do not fit each other.
std::vector<Misfit> misfits() {
  const auto output = [](const std::vector<rk_u32>& dims) {
    return [dims](rk_command& command) { reshape_operand(command.output, dims); };
  };
  const auto mask = [](rk_u32 bits, rk_u32 keepdims = 0) {
    return [=](rk_command& command) { command.attrs.reduce = {bits, keepdims}; };
  };
  const auto permutation = [](rk_u32 first, rk_u32 second) {
    return [=](rk_command& command) { command.attrs.transpose = {{first, second}}; };
  };
  const auto ranges = [](rk_u32 start, rk_u32 step) {
    return [=](rk_command& command) { command.attrs.slice = {{start}, {step}}; };
  };
  const auto pads = [](rk_u32 low, rk_u32 high) {
    return [=](rk_command& command) { command.attrs.pad = {{0, low}, {0, high}}; };
  };
  const OpAttributes every_second = slicing({.starts = {0}, .ends = {9}, .steps = {2}});
  return {
      {"add, other output", Op::add, {{4, 5}, {4, 5}}, {}, output({5, 4})},
      {"add, smaller output", Op::add, {{4, 5}, {4, 5}}, {}, output({4, 1})},
      {"add, output of lower rank", Op::add, {{4, 5}, {4, 5}}, {}, output({20})},
      {"add, output of higher rank", Op::add, {{4, 5}, {4, 5}}, {}, output({1, 4, 5})},
      {"add, output of higher rank at the end", Op::add, {{4, 5}, {4, 5}}, {}, output({4, 5, 1})},
      {"add, output 1 for a broadcast", Op::add, {{4, 1}, {1, 5}}, {}, output({1, 5})},
      {"mul, extents clash",
       Op::mul,
       {{4, 5}, {4, 5}},
       {},
       [](rk_command& command) {
         reshape_operand(command.inputs[1], {5, 4});
       }},
      {"relu, other output", Op::relu, {{4, 5}}, {}, output({5, 4})},
      {"relu, smaller output", Op::relu, {{4, 5}}, {}, output({4})},
      {"copy, other output", Op::copy, {{4, 5}}, {}, output({20})},
      {"reshape, other count", Op::reshape, {{4, 5}}, shaped({20}), output({19})},
      {"matmul of vectors",
       Op::matmul,
       {{4, 4}, {4, 4}},
       {},
       [](rk_command& command) { reshape_operand(command.inputs[0], {16}); }},
      {"matmul, other K",
       Op::matmul,
       {{4, 6}, {6, 4}},
       {},
       [](rk_command& command) {
         reshape_operand(command.inputs[1], {5, 4});
       }},
      {"matmul, other M", Op::matmul, {{4, 6}, {6, 4}}, {}, output({2, 4})},
      {"matmul, other N", Op::matmul, {{4, 6}, {6, 4}}, {}, output({4, 2})},
      {"matmul, output vector", Op::matmul, {{4, 6}, {6, 4}}, {}, output({4})},
      {"matmul, other batch", Op::matmul, {{3, 2, 2}, {3, 2, 2}}, {}, output({2, 2, 2})},
      {"matmul, batch left out", Op::matmul, {{1, 2, 2}, {1, 2, 2}}, {}, output({2, 2})},
      {"sub, other output", Op::sub, {{4, 5}, {4, 5}}, {}, output({5, 4})},
      {"div, smaller output", Op::div, {{4, 5}, {4, 5}}, {}, output({4, 1})},
      {"neg, other output", Op::neg, {{4, 5}}, {}, output({5, 4})},
      {"exp, smaller output", Op::exp, {{4, 5}}, {}, output({4})},
      {"log, other rank", Op::log, {{4, 5}}, {}, output({20})},
      {"sum, mask beyond the rank", Op::sum, {{4, 5}}, reducing({0}), mask(5)},
      {"sum, mask of all bits", Op::sum, {{4, 5}}, reducing({}), mask(~0u)},
      {"sum, no mask", Op::sum, {{4, 5}}, reducing({0}), mask(0)},
      {"sum, mask of the other dim", Op::sum, {{4, 5}}, reducing({0}), mask(2)},
      {"sum, keepdims flipped", Op::sum, {{4, 5}}, reducing({0}), mask(1, 1)},
      {"sum, keepdims 2", Op::sum, {{4, 5}}, reducing({0}, true), mask(1, 2)},
      {"mean, output longer", Op::mean, {{4, 5}}, reducing({}), output({1})},
      {"mean, output of higher rank", Op::mean, {{4, 5}}, reducing({0}), output({5, 1})},
      {"sum_all, partial mask", Op::sum_all, {{4, 5}}, {}, mask(1)},
      {"sum_all, partial mask and its sums",
       Op::sum_all,
       {{4, 1}},
       {},
       [](rk_command& command) {
         command.attrs.reduce.axis_mask = 1;
         reshape_operand(command.output, {1});
       }},
      {"sum_all, keeps dims", Op::sum_all, {{4, 5}}, {}, mask(3, 1)},
      {"mean_all, partial mask", Op::mean_all, {{4, 5}}, {}, mask(1)},
      {"dot, other K",
       Op::dot,
       {{4, 6}, {6}},
       {},
       [](rk_command& command) { reshape_operand(command.inputs[1], {5}); }},
      {"dot of a scalar",
       Op::dot,
       {{1}, {1}},
       {},
       [](rk_command& command) { reshape_operand(command.inputs[0], {}); }},
      {"dot of rank 3",
       Op::dot,
       {{4, 6}, {6}},
       {},
       [](rk_command& command) {
         reshape_operand(command.inputs[0], {2, 2, 6});
       }},
      {"dot, output of another rank", Op::dot, {{6}, {6}}, {}, output({1})},
      {"dot, fewer rows", Op::dot, {{4, 6}, {6}}, {}, output({3})},
      {"dot, fewer columns", Op::dot, {{6}, {6, 4}}, {}, output({3})},
      {"expand_dims, other count", Op::expand_dims, {{4, 5}}, reducing({0}), output({1, 4, 4})},
      {"squeeze, other count", Op::squeeze, {{4, 1}}, reducing({1}), output({3})},
      {"transpose, extents not swapped",
       Op::transpose,
       {{4, 5}},
       permuting({1, 0}),
       output({4, 5})},
      {"transpose, output of another rank",
       Op::transpose,
       {{4, 5}},
       permuting({1, 0}),
       output({20})},
      {"transpose, a dim twice", Op::transpose, {{4, 4}}, permuting({1, 0}), permutation(0, 0)},
      {"transpose, a dim beyond the rank",
       Op::transpose,
       {{4, 4}},
       permuting({1, 0}),
       permutation(1, 2)},
      {"transpose, a dim beyond all",
       Op::transpose,
       {{4, 4}},
       permuting({1, 0}),
       permutation(~0u, 0)},
      {"max, other output", Op::max, {{4, 5}, {4, 5}}, {}, output({5, 4})},
      {"min, smaller output", Op::min, {{4, 5}, {4, 5}}, {}, output({4, 1})},
      {"sqrt, other rank", Op::sqrt, {{4, 5}}, {}, output({20})},
      {"reduce_max, mask of the other dim", Op::reduce_max, {{4, 5}}, reducing({0}), mask(2)},
      {"reduce_max, no mask", Op::reduce_max, {{4, 5}}, reducing({0}), mask(0)},
      {"softmax, other output", Op::softmax, {{4, 5}}, reducing({0}), output({5, 4})},
      {"softmax, no mask", Op::softmax, {{4, 5}}, reducing({0}), mask(0)},
      {"softmax, mask beyond the rank", Op::softmax, {{4, 5}}, reducing({0}), mask(5)},
      {"cast, other rank", Op::cast, {{4, 5}}, casting(DType::i32), output({20})},
      {"compare, smaller output", Op::compare, {{4, 5}, {5}}, {}, output({4, 1})},
      {"compare, no comparison",
       Op::compare,
       {{4}, {4}},
       {},
       [](rk_command& command) { command.attrs.compare.comparison = RK_COMPARE_LESS_EQUAL + 1; }},
      {"concat, output too short", Op::concat, {{4, 5}, {3, 5}}, reducing({0}), output({6, 5})},
      {"concat, output too wide", Op::concat, {{4, 5}, {3, 5}}, reducing({0}), output({7, 4})},
      {"concat, output of another rank", Op::concat, {{4}, {3}}, reducing({0}), output({7, 1})},
      {"concat, like the first alone", Op::concat, {{4, 5}, {3, 5}}, reducing({0}), output({4, 5})},
      {"concat, other extents",
       Op::concat,
       {{4, 5}, {3, 5}},
       reducing({0}),
       [](rk_command& command) {
         reshape_operand(command.inputs[1], {3, 4});
       }},
      {"index, output of a higher rank", Op::index, {{4, 5}}, indexing({1, 1}), output({1})},
      {"slice, output of another rank", Op::slice, {{9}}, every_second, output({5, 1})},
      {"slice, step 0", Op::slice, {{9}}, every_second, ranges(0, 0)},
      {"slice, longer step", Op::slice, {{9}}, every_second, ranges(0, 3)},
      {"slice, longest step", Op::slice, {{9}}, every_second, ranges(0, ~0u)},
      {"slice, later start", Op::slice, {{9}}, every_second, ranges(1, 2)},
      {"pad, output of another rank",
       Op::pad,
       {{4, 5}, {}},
       enclosing({0, 1}, {0, 2}),
       output({32})},
      {"pad, smaller output", Op::pad, {{4, 5}, {}}, enclosing({0, 1}, {0, 2}), output({4, 7})},
      {"pad, output of other extents",
       Op::pad,
       {{4, 5}, {}},
       enclosing({0, 1}, {0, 2}),
       output({2, 16})},
      {"pad, more before", Op::pad, {{4, 5}, {}}, enclosing({0, 1}, {0, 2}), pads(2, 2)},
      {"pad, less behind", Op::pad, {{4, 5}, {}}, enclosing({0, 1}, {0, 2}), pads(1, 0)},
      {"pad, counts that wrap", Op::pad, {{4, 5}, {}}, enclosing({0, 1}, {0, 2}), pads(~0u, 4)},
      {"slice, latest start", Op::slice, {{9}}, every_second, ranges(~0u, 2)},
  };
}

/// Images [2, 5, 6, 3] and a filter [3, 2, 3, 4], strides 1 and pads 1: output [2, 5, 7, 4].
std::vector<Misfit> conv2d_misfits() {
  const auto row = [](const char* what, const Spoil& spoil) {
    return Misfit{what,
                  Op::conv2d,
                  {{2, 5, 6, 3}, {3, 2, 3, 4}},
                  sliding({1, 1}, Padding::custom, {1, 1, 1, 1}),
                  spoil};
  };
  const auto output = [&](const char* what, const std::vector<rk_u32>& dims) {
    return row(what, [=](rk_command& command) { reshape_operand(command.output, dims); });
  };
  const auto images = [&](const char* what, const std::vector<rk_u32>& dims) {
    return row(what, [=](rk_command& command) { reshape_operand(command.inputs[0], dims); });
  };
  const auto filter = [&](const char* what, const std::vector<rk_u32>& dims) {
    return row(what, [=](rk_command& command) { reshape_operand(command.inputs[1], dims); });
  };
  const auto stride = [&](const char* what, std::size_t axis, rk_u32 value) {
    return row(what, [=](rk_command& command) { command.attrs.conv2d.strides[axis] = value; });
  };
  const auto pad = [&](const char* what, std::size_t side, rk_u32 value) {
    return row(what, [=](rk_command& command) { command.attrs.conv2d.pads[side] = value; });
  };
  return {images("rank 3", {10, 6, 3}),
          images("rank 5", {1, 2, 5, 6, 3}),
          images("fewer images", {1, 5, 6, 3}),
          images("fewer channels", {2, 5, 6, 1}),
          images("fewer rows", {2, 4, 6, 3}),
          images("fewer columns", {2, 5, 5, 3}),
          filter("rank 3", {6, 3, 4}),
          filter("fewer rows", {2, 2, 3, 4}),
          filter("fewer columns", {3, 1, 3, 4}),
          filter("fewer outputs", {3, 2, 3, 3}),
          filter("more rows than the padded image", {8, 1, 3, 1}),
          output("rank 3", {10, 7, 4}),
          output("fewer images", {1, 5, 7, 4}),
          output("fewer rows", {2, 4, 7, 4}),
          output("fewer columns", {2, 5, 6, 4}),
          output("fewer channels", {2, 5, 7, 3}),
          stride("vertical stride 0", 0, 0),
          stride("horizontal stride 0", 1, 0),
          stride("vertical stride 2", 0, 2),
          stride("largest horizontal stride", 1, 0xffffffff),
          pad("no zeros on top", 0, 0),
          pad("more zeros at the bottom", 1, 2),
          pad("padded columns beyond 32 bits", 2, 0xffffffff),
          pad("largest pad on the right", 3, 0xfffffff8)};
}

/// In two groups: images [2, 5, 6, 4], a filter [3, 2, 2, 6], output [2, 3, 5, 6].
std::vector<Misfit> group_misfits() {
  const auto row = [](const char* what, const Spoil& spoil) {
    return Misfit{
        what, Op::conv2d, {{2, 5, 6, 4}, {3, 2, 2, 6}}, grouped(2, sliding({1, 1})), spoil};
  };
  const auto groups = [&](const char* what, rk_u32 count) {
    return row(what, [=](rk_command& command) { command.attrs.conv2d.groups = count; });
  };
  return {groups("one group, as before there were groups", 0),
          groups("one group", 1),
          groups("fewer channels than in the groups", 3),
          groups("as many groups as channels", 4),
          groups("groups whose channels overflow", 0x80000002),
          row("groups that do not divide the outputs", [](rk_command& command) {
            reshape_operand(command.inputs[1], {3, 2, 2, 5});
            reshape_operand(command.output, {2, 3, 5, 5});
          })};
}

/// Images [2, 5, 6, 3], a window [3, 2], strides 1, pads [1, 1, 1, 1]: output [2, 5, 7, 3].
std::vector<Misfit> pool_misfits() {
  const auto row = [](const char* what, const Spoil& spoil) {
    return Misfit{what,
                  Op::max_pool,
                  {{2, 5, 6, 3}},
                  pooling({3, 2}, sliding({1, 1}, Padding::custom, {1, 1, 1, 1})),
                  spoil};
  };
  const auto output = [&](const char* what, const std::vector<rk_u32>& dims) {
    return row(what, [=](rk_command& command) { reshape_operand(command.output, dims); });
  };
  const auto pool = [&](const char* what, const std::function<void(rk_attrs_pool&)>& change) {
    return row(what, [=](rk_command& command) { change(command.attrs.pool); });
  };
  return {row("rank 3",
              [](rk_command& command) {
                reshape_operand(command.inputs[0], {10, 6, 3});
              }),
          output("rank 3", {10, 7, 3}),
          output("fewer images", {1, 5, 7, 3}),
          output("fewer rows", {2, 4, 7, 3}),
          output("fewer columns", {2, 5, 6, 3}),
          output("fewer channels", {2, 5, 7, 2}),
          pool("no rows in the window", [](rk_attrs_pool& attrs) { attrs.window[0] = 0; }),
          pool("more columns in the window", [](rk_attrs_pool& attrs) { attrs.window[1] = 3; }),
          pool("largest window", [](rk_attrs_pool& attrs) { attrs.window[1] = ~0u; }),
          pool("vertical stride 0", [](rk_attrs_pool& attrs) { attrs.strides[0] = 0; }),
          pool("horizontal stride 2", [](rk_attrs_pool& attrs) { attrs.strides[1] = 2; }),
          pool("no padding on top", [](rk_attrs_pool& attrs) { attrs.pads[0] = 0; }),
          pool("a pad as large as the window", [](rk_attrs_pool& attrs) { attrs.pads[2] = 2; }),
          pool("such pads behind",
               [](rk_attrs_pool& attrs) {
                 attrs.window[1] = 1;
                 attrs.pads[2] = 0;
               }),
          pool("largest pad", [](rk_attrs_pool& attrs) { attrs.pads[1] = ~0u; })};
}

TEST(HostileCommand, MustHaveShapesThatFitTheOp) {
  std::vector<Misfit> all = misfits();
  std::ranges::move(conv2d_misfits(), std::back_inserter(all));
  std::ranges::move(group_misfits(), std::back_inserter(all));
  std::ranges::move(pool_misfits(), std::back_inserter(all));
  for (const Misfit& misfit : all) {
    SCOPED_TRACE(misfit.what);
    std::vector<Tensor> inputs;
    for (const Shape& shape : misfit.inputs) inputs.push_back(ones(shape));
    expect_refusal(HandBuiltMessage(misfit.op, inputs, misfit.attributes),
                   refusal(Errc::bad_shape, static_cast<rk_u64>(misfit.op)), misfit.spoil);
  }
}

}  // namespace
}  // namespace ringkernel::test
