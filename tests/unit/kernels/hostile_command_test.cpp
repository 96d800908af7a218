// Commands that no codec would write: each gets its fault, and nothing is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>

#include "support/attributes.hpp"
#include "unit/kernels/hand_built_message.hpp"

namespace ringkernel::test {
namespace {

constexpr rk_u64 output_operand = RK_INPUTS_MAX;

Tensor ones(const Shape& shape) { return {shape, std::vector<float>(shape.element_count(), 1.0f)}; }

HandBuiltMessage add_message() {
  const Tensor inputs[] = {ones({2, 20}), ones({20})};
  return HandBuiltMessage(Op::add, inputs);
}

using Spoil = std::function<void(rk_command&)>;

/// The spoiled message is refused everywhere, and reply, arena and guards are untouched.
void expect_refusal(HandBuiltMessage message, const Outcome& expected, const Spoil& spoil) {
  spoil(message.command());
  for (const Programs& programs : available_programs()) {
    EXPECT_EQ(message.run(programs), expected) << programs.level;
    EXPECT_TRUE(message.nothing_was_written()) << programs.level;
  }
}

/// Refused because of what the executor passes on, not because of the command.
void expect_refusal_of_memory(const Outcome& expected,
                              const std::function<void(MessageMemory&)>& spoil) {
  HandBuiltMessage message = add_message();
  MessageMemory memory = message.memory();
  spoil(memory);
  for (const Programs& programs : available_programs()) {
    EXPECT_EQ(programs.core(memory, 0, 1), expected) << programs.level;
    EXPECT_TRUE(message.nothing_was_written()) << programs.level;
  }
}

TEST(HostileCommand, MustLieInsideThePayload) {
  for (const rk_u32 offset : {0u, 4u, 65u, 68u, 0xfffffff8u})
    expect_refusal_of_memory(refusal(Errc::bad_command, offset),
                             [=](MessageMemory& memory) { memory.command_offset = offset; });
  for (const rk_u32 bytes : {0u, 64u, 64u + 271u})
    expect_refusal_of_memory(refusal(Errc::bad_command, 64),
                             [=](MessageMemory& memory) { memory.payload_bytes = bytes; });
}

TEST(HostileCommand, MustNameAnOp) {
  for (const rk_u16 op : {rk_u16{9}, rk_u16{999}, rk_u16{65535}})
    expect_refusal(add_message(), refusal(Errc::unknown_op, op),
                   [=](rk_command& command) { command.op = op; });
}

TEST(HostileCommand, MustHaveTheOperandsOfItsOp) {
  const Outcome expected = refusal(Errc::bad_command, 64);
  for (const rk_u8 count : {rk_u8{0}, rk_u8{1}, rk_u8{3}, rk_u8{255}})
    expect_refusal(add_message(), expected,
                   [=](rk_command& command) { command.input_count = count; });
  for (const rk_u8 count : {rk_u8{0}, rk_u8{2}})
    expect_refusal(add_message(), expected,
                   [=](rk_command& command) { command.output_count = count; });
}

TEST(HostileCommand, MustLeaveReservedWordsZero) {
  const Outcome expected = refusal(Errc::bad_command, 64);
  expect_refusal(add_message(), expected, [](rk_command& command) { command.flags = 1; });
  expect_refusal(add_message(), expected, [](rk_command& command) { command.reserved = 1; });
}

/// What can be wrong with any operand by itself.
std::vector<std::pair<const char*, std::function<void(rk_operand&)>>> operand_faults() {
  return {
      {"no place", [](rk_operand& o) { o.place = RK_PLACE_NONE; }},
      {"unknown place", [](rk_operand& o) { o.place = 3; }},
      {"no type", [](rk_operand& o) { o.dtype = RK_DTYPE_NONE; }},
      {"unknown type", [](rk_operand& o) { o.dtype = 4; }},
      {"type 255", [](rk_operand& o) { o.dtype = 255; }},
      {"rank below the extents", [](rk_operand& o) { --o.rank; }},
      {"rank 9", [](rk_operand& o) { o.rank = 9; }},
      {"rank 255", [](rk_operand& o) { o.rank = 255; }},
      {"reserved", [](rk_operand& o) { o.reserved = 1; }},
      {"extent 0", [](rk_operand& o) { o.dims[0] = 0; }},
      {"extent 0 and count 0", [](rk_operand& o) { o.dims[0] = o.element_count = 0; }},
      {"extent behind the rank", [](rk_operand& o) { o.dims[7] = 2; }},
      {"extent 0 behind the rank", [](rk_operand& o) { o.dims[7] = 0; }},
      {"count above the product", [](rk_operand& o) { ++o.element_count; }},
      {"count below the product", [](rk_operand& o) { --o.element_count; }},
      {"product that is the count modulo 2^32",
       [](rk_operand& o) {
         o.rank = 2;
         o.dims[0] = 0x10001u;
         o.dims[1] = 0xffff0001u;
         o.element_count = 1;
       }},
      {"product that is the count modulo 2^64",  // 2^64 + 4
       [](rk_operand& o) {
         o.rank = 3;
         o.dims[0] = 3340214413u;
         o.dims[1] = 2761311370u;
         o.dims[2] = 2;
         o.element_count = 4;
       }},
      {"offset 4", [](rk_operand& o) { o.offset += 4; }},
      {"offset 32", [](rk_operand& o) { o.offset += 32; }},
  };
}

TEST(HostileCommand, MayHaveNoUnsoundInput) {
  for (const auto& [what, spoil] : operand_faults())
    for (const std::size_t input : {0u, 1u}) {
      SCOPED_TRACE(what);
      expect_refusal(add_message(), refusal(Errc::bad_operand, input),
                     [&](rk_command& command) { spoil(command.inputs[input]); });
    }
}

TEST(HostileCommand, MayHaveNoUnsoundOutput) {
  for (const auto& [what, spoil] : operand_faults()) {
    SCOPED_TRACE(what);
    expect_refusal(add_message(), refusal(Errc::bad_operand, output_operand),
                   [&](rk_command& command) { spoil(command.output); });
  }
}

TEST(HostileCommand, MayNotMixElementTypes) {
  for (const std::size_t operand : {0u, 1u, 3u})
    expect_refusal(add_message(), refusal(Errc::bad_operand, operand == 3 ? output_operand : 1),
                   [=](rk_command& command) {
                     (operand == 3 ? command.output : command.inputs[operand]).dtype = RK_DTYPE_I32;
                   });
}

TEST(HostileCommand, MayNotHaveIntegersWhereOnlyFloatsGo) {
  const Tensor inputs[] = {ones({4, 4}), ones({4, 4})};
  for (const Op op : {Op::matmul, Op::dot})
    expect_refusal(
        HandBuiltMessage(op, inputs), refusal(Errc::bad_operand, 0), [=](rk_command& command) {
          for (rk_operand* operand : {&command.inputs[0], &command.inputs[1], &command.output})
            operand->dtype = RK_DTYPE_I32;
        });
}

TEST(HostileCommand, MayNotGatherByFloats) {
  const Tensor inputs[] = {ones({4}), {{2}, {0, 1}, DType::i32}};
  expect_refusal(HandBuiltMessage(Op::gather, inputs), refusal(Errc::bad_operand, 1),
                 [](rk_command& command) { command.inputs[1].dtype = RK_DTYPE_F32; });
}

// An i64 has two words: an operand that becomes one needs twice the room.
TEST(HostileCommand, MayNotReadOrWriteBehindTheEndByAWiderType) {
  const Tensor input = {{256}, std::vector<float>(256), DType::i32};
  HandBuiltMessage message(Op::copy, {&input, 1});
  message.command().inputs[0].dtype = RK_DTYPE_I64;
  message.command().output.dtype = RK_DTYPE_I64;
  for (const Programs& programs : available_programs()) {
    EXPECT_EQ(message.run(programs), refusal(Errc::bad_operand, 0));
    MessageMemory memory = message.memory();
    memory.payload_bytes += 1024;  // the input fits now, the output does not
    EXPECT_EQ(programs.core(memory, 0, 1), refusal(Errc::reply_too_small, 2048));
    EXPECT_TRUE(message.nothing_was_written());
  }
}

TEST(HostileCommand, MayNotReadOutsideOfThePayload) {
  for (const rk_u64 offset : {rk_u64{4096}, rk_u64{1} << 32, ~rk_u64{63}})
    expect_refusal(add_message(), refusal(Errc::bad_operand, 1),
                   [=](rk_command& command) { command.inputs[1].offset = offset; });
  expect_refusal(add_message(), refusal(Errc::bad_operand, 0), [](rk_command& command) {
    command.inputs[0].dims[0] = 1u << 20;
    command.inputs[0].element_count = 20u << 20;
  });
}

TEST(HostileCommand, MayNotReadOrWriteOutsideOfTheArena) {
  for (const rk_u64 offset : {rk_u64{4096 - 64}, rk_u64{4096}, rk_u64{8192}, ~rk_u64{63}}) {
    expect_refusal(add_message(), refusal(Errc::bad_operand, 1), [=](rk_command& command) {
      command.inputs[1].place = RK_PLACE_ARENA;
      command.inputs[1].offset = offset;
    });
    expect_refusal(add_message(), refusal(Errc::bad_operand, output_operand),
                   [=](rk_command& command) {
                     command.output.place = RK_PLACE_ARENA;
                     command.output.offset = offset;
                   });
  }
}

TEST(HostileCommand, MayNotWriteBehindTheReply) {
  expect_refusal(add_message(), refusal(Errc::reply_too_small, 64 + 160),
                 [](rk_command& command) { command.output.offset = 64; });
  expect_refusal_of_memory(refusal(Errc::reply_too_small, 160),
                           [](MessageMemory& memory) { memory.reply_bytes = 159; });
}

/// Both operands lie in the arena.
HandBuiltMessage resident(Op op, const Shape& a, const Shape& b,
                          const OpAttributes& attributes = {}) {
  const Tensor inputs[] = {ones(a), ones(b)};
  HandBuiltMessage message(op, inputs, attributes);
  message.command().output.place = RK_PLACE_ARENA;
  for (std::size_t i : {0u, 1u}) {
    message.command().inputs[i].place = RK_PLACE_ARENA;
    message.command().inputs[i].offset = 1024 * (i + 1);
  }
  return message;
}

TEST(HostileCommand, MayNotOverlapItsOutputWithPartOfAnInput) {
  const Outcome expected = refusal(Errc::bad_operand, output_operand);
  expect_refusal(resident(Op::add, {64}, {64}), expected,
                 [](rk_command& command) { command.output.offset = 1024 + 64; });
  expect_refusal(resident(Op::add, {64}, {64}), expected,
                 [](rk_command& command) { command.output.offset = 2048 - 64; });
  expect_refusal(resident(Op::add, {2, 32}, {32}), expected,
                 [](rk_command& command) { command.output.offset = 2048; });
  for (const Op op : {Op::matmul, Op::dot})
    expect_refusal(resident(op, {4, 4}, {4, 4}), expected,
                   [](rk_command& command) { command.output.offset = 1024; });
  expect_refusal(resident(Op::conv2d, {1, 4, 4, 1}, {1, 1, 1, 1}, sliding({1, 1})), expected,
                 [](rk_command& command) { command.output.offset = 1024; });
}

TEST(HostileCommand, MayNotMoveElementsWithinOneTensor) {
  const Tensor matrix = ones({8, 8});
  const Tensor indices = {{8}, std::vector<float>(8), DType::i32};
  const Tensor gathered[] = {matrix, indices};
  HandBuiltMessage messages[] = {{Op::transpose, {&matrix, 1}, permuting({1, 0})},
                                 {Op::gather, gathered}};
  for (HandBuiltMessage& message : messages)
    expect_refusal(std::move(message), refusal(Errc::bad_operand, output_operand),
                   [](rk_command& command) {
                     command.inputs[0].place = command.output.place = RK_PLACE_ARENA;
                     command.inputs[0].offset = command.output.offset = 1024;
                   });
}

TEST(ResidentOperands, MayBeOverwrittenElementForElement) {
  HandBuiltMessage message = resident(Op::add, {64}, {64});
  message.command().output.offset = 1024;
  for (const Programs& programs : available_programs()) {
    message.reset();
    auto* elements = reinterpret_cast<float*>(message.arena().data());
    for (std::size_t i = 0; i < 64; ++i) {
      elements[256 + i] = static_cast<float>(i);
      elements[512 + i] = 1;
    }
    ASSERT_EQ(message.run(programs), success);
    for (std::size_t i = 0; i < 64; ++i)
      EXPECT_EQ(elements[256 + i], static_cast<float>(i) + 1) << programs.level;
  }
}

struct Misfit {
  const char* what;
  Op op;
  std::vector<Shape> inputs;
  OpAttributes attributes;
  Spoil spoil;
};

void reshape_operand(rk_operand& operand, const std::vector<rk_u32>& dims) {
  std::fill_n(operand.dims, rank_max, 1u);
  std::copy(dims.begin(), dims.end(), operand.dims);
  operand.rank = static_cast<rk_u8>(dims.size());
  operand.element_count = std::accumulate(dims.begin(), dims.end(), 1u, std::multiplies<>());
}

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
      {"index, output of a higher rank", Op::index, {{4, 5}}, indexing({1, 1}), output({1})},
      {"slice, output of another rank", Op::slice, {{9}}, every_second, output({5, 1})},
      {"slice, step 0", Op::slice, {{9}}, every_second, ranges(0, 0)},
      {"slice, longer step", Op::slice, {{9}}, every_second, ranges(0, 3)},
      {"slice, longest step", Op::slice, {{9}}, every_second, ranges(0, ~0u)},
      {"slice, later start", Op::slice, {{9}}, every_second, ranges(1, 2)},
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

TEST(HostileCommand, MustHaveShapesThatFitTheOp) {
  std::vector<Misfit> all = misfits();
  std::ranges::move(conv2d_misfits(), std::back_inserter(all));
  for (const Misfit& misfit : all) {
    SCOPED_TRACE(misfit.what);
    std::vector<Tensor> inputs;
    for (const Shape& shape : misfit.inputs) inputs.push_back(ones(shape));
    expect_refusal(HandBuiltMessage(misfit.op, inputs, misfit.attributes),
                   refusal(Errc::bad_shape, static_cast<rk_u64>(misfit.op)), misfit.spoil);
  }
}

TEST(Noop, NeedsNoOperandsAndWritesNothing) {
  HandBuiltMessage message(Op::noop, {});
  for (const Programs& programs : available_programs()) {
    EXPECT_EQ(message.run(programs), success);
    EXPECT_TRUE(message.nothing_was_written());
  }
}

// Random words in good commands, the op included. Whatever the device makes of them, it writes
// inside reply and arena only; AddressSanitizer watches what it reads.
TEST(HostileCommand, MayBeAnyBytes) {
  std::mt19937 random{1};
  const Programs programs = available_programs().back();
  const Tensor binary[] = {ones({3, 20}), ones({20})};
  const Tensor product[] = {ones({2, 3, 20}), ones({20, 5})};
  const Tensor unary[] = {ones({3, 20})};
  const Tensor gathered[] = {ones({6, 20}), {{3}, {5, 0, 2}, DType::i32}};
  const Tensor images[] = {ones({2, 5, 4, 3}), ones({2, 3, 3, 5})};
  HandBuiltMessage messages[] = {{Op::add, binary},
                                 {Op::matmul, product},
                                 {Op::sum, unary, reducing({1})},
                                 {Op::copy, unary},
                                 {Op::transpose, unary, permuting({1, 0})},
                                 {Op::slice, unary, slicing({{1, 2}, {3, 19}, {1, 3}})},
                                 {Op::index, unary, indexing({2, 3})},
                                 {Op::gather, gathered},
                                 {Op::conv2d, images, sliding({2, 1}, Padding::same)}};
  constexpr rk_u32 tempting[] = {0, 1, 2, 3, 8, 20, 60, 64, 0x7fffffff, 0x80000000, 0xffffffff};
  std::size_t refused = 0;
  for (int round = 0; round < 90000; ++round) {
    HandBuiltMessage& message = messages[round % 9];
    const rk_command before = message.command();
    auto* bytes = reinterpret_cast<rk_u8*>(&message.command());
    for (auto change = random() % 4; change-- > 0;) {
      const auto any = static_cast<rk_u32>(random());
      const rk_u32 word = random() % 3 == 0 ? any : tempting[random() % 11];
      std::memcpy(bytes + random() % (sizeof(rk_command) / 4) * 4, &word, sizeof word);
    }
    if (random() % 4 == 0) message.command().op = static_cast<rk_u16>(random() % 60);
    if (message.run(programs).fault != 0) ++refused;
    ASSERT_TRUE(message.guards_are_intact()) << "round " << round;
    message.command() = before;
  }
  EXPECT_GT(refused, 20000u);
  EXPECT_LT(refused, 80000u);
}

}  // namespace
}  // namespace ringkernel::test
