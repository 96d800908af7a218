// Commands that no codec would write: each gets its fault, and nothing is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "support/attributes.hpp"
#include "support/elements.hpp"
#include "unit/kernels/refusal.hpp"

namespace ringkernel::test {
namespace {

HandBuiltMessage add_message() {
  const Tensor inputs[] = {ones({2, 20}), ones({20})};
  return HandBuiltMessage(Op::add, inputs);
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
  for (const rk_u16 op : {rk_u16{9}, rk_u16{999}, rk_u16{65534}})
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
      {"binding", [](rk_operand& o) { o.binding = 1; }},
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
                     [&, spoil = spoil](rk_command& command) { spoil(command.inputs[input]); });
    }
}

TEST(HostileCommand, MayHaveNoUnsoundOutput) {
  for (const auto& [what, spoil] : operand_faults()) {
    SCOPED_TRACE(what);
    expect_refusal(add_message(), refusal(Errc::bad_operand, output_operand),
                   [spoil = spoil](rk_command& command) { spoil(command.output); });
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
  const Tensor image = ones({1, 8, 8, 1});
  const Tensor wide[] = {{{1, 8}, std::vector<float>(8), DType::i64},
                         {{2, 1}, std::vector<float>(2), DType::i64}};
  const Tensor enclosed[] = {matrix, ones({8, 8})};
  HandBuiltMessage messages[] = {{Op::transpose, {&matrix, 1}, permuting({1, 0})},
                                 {Op::pad, enclosed, enclosing({0, 0}, {0, 0})},
                                 {Op::gather, gathered},
                                 {Op::max_pool, {&image, 1}, pooling({1, 1}, sliding({1, 1}))},
                                 {Op::compare, wide}};  // as many words, of other elements
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

TEST(ResidentOperands, HaveThreeZerosBehindAResultOfRankZero) {
  for (const DType dtype : {DType::f32, DType::i32, DType::i64}) {
    const Tensor input{{5}, {1, 2, 3, 4, 5}, dtype};
    HandBuiltMessage message(Op::sum_all, {&input, 1});
    const std::size_t bytes = element_bytes(dtype);
    message.command().output.place = RK_PLACE_ARENA;
    message.command().output.offset = 4096 - 64;
    for (const Programs& programs : available_programs()) {
      for (const rk_u32 lanes : {1u, 3u}) {
        SCOPED_TRACE(std::string(programs.level) + " " + name(dtype));
        message.reset();
        ASSERT_EQ(message.run(programs, lanes), success);
        const std::span<const rk_u8> result = message.arena().last(64);
        EXPECT_EQ(decoded({dtype, {4}}, result.data()), (std::vector<float>{15, 0, 0, 0}));
        EXPECT_EQ(result[4 * bytes], message.arena()[0]) << "more was written";
        EXPECT_TRUE(message.guards_are_intact());
      }
    }
  }
}

TEST(HostileCommand, MayNotWriteTheZerosBehindAScalarOutsideOfTheArena) {
  const Tensor input = ones({5});
  HandBuiltMessage message(Op::sum_all, {&input, 1});
  message.command().output.place = RK_PLACE_ARENA;
  for (const Programs& programs : available_programs()) {
    MessageMemory memory = message.memory();
    memory.arena_bytes = 15;
    EXPECT_EQ(programs.core(memory, 0, 1), refusal(Errc::bad_operand, output_operand));
    EXPECT_TRUE(message.nothing_was_written());
    memory.arena_bytes = 16;
    EXPECT_EQ(programs.core(memory, 0, 1), success);
    message.reset();
  }
}

TEST(Noop, NeedsNoOperandsAndWritesNothing) {
  HandBuiltMessage message(Op::noop, {});
  for (const Programs& programs : available_programs()) {
    EXPECT_EQ(message.run(programs), success);
    EXPECT_TRUE(message.nothing_was_written());
  }
}

// A scalar in the arena has zeros behind it. A result that is described, but is none, has not.
TEST(Noop, PadsNoResultThatItDoesNotHave) {
  HandBuiltMessage message(Op::noop, {});
  message.command().output.place = RK_PLACE_ARENA;
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
  const Tensor chosen[] = {{{3, 1}, {1, 0, 1}, DType::i32}, ones({3, 20}), ones({20})};
  const Tensor joined[] = {ones({3, 20}), ones({2, 20})};
  const Tensor images[] = {ones({2, 5, 4, 3}), ones({2, 3, 3, 5})};
  const Tensor channels[] = {ones({2, 5, 9, 3}), ones({2, 3, 1, 3})};
  const Tensor pairs[] = {ones({1, 5, 9, 4}), ones({2, 3, 2, 6})};
  HandBuiltMessage messages[] = {{Op::add, binary},
                                 {Op::matmul, product},
                                 {Op::sum, unary, reducing({1})},
                                 {Op::copy, unary},
                                 {Op::transpose, unary, permuting({1, 0})},
                                 {Op::slice, unary, slicing({{1, 2}, {3, 19}, {1, 3}})},
                                 {Op::index, unary, indexing({2, 3})},
                                 {Op::gather, gathered},
                                 {Op::conv2d, images, sliding({2, 1}, Padding::same)},
                                 {Op::conv2d, channels, grouped(3, sliding({1, 1}, Padding::same))},
                                 {Op::conv2d, pairs, grouped(2, sliding({1, 2}))},
                                 {Op::max_pool, {images, 1}, pooling({2, 3}, sliding({1, 2}))},
                                 {Op::compare, binary, comparing(Comparison::less)},
                                 {Op::select, chosen},
                                 {Op::concat, joined, reducing({0})},
                                 {Op::pad, joined, enclosing({1, 0}, {0, 7})},
                                 {Op::cast, unary, casting(DType::i64)},
                                 {Op::softmax, unary, reducing({0})},
                                 {Op::reduce_max, unary, reducing({0}, true)}};
  constexpr rk_u32 tempting[] = {0, 1, 2, 3, 8, 20, 60, 64, 0x7fffffff, 0x80000000, 0xffffffff};
  std::size_t refused = 0;
  for (std::size_t round = 0; round < 120000; ++round) {
    HandBuiltMessage& message = messages[round % std::size(messages)];
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
  EXPECT_GT(refused, 27000u);
  EXPECT_LT(refused, 107000u);
}

}  // namespace
}  // namespace ringkernel::test
