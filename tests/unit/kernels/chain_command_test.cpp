// Chains of a graph: commands that hand their values on, and what is refused before anything is
// written.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>

#include "ringkernel/protocol/command.h"
#include "unit/kernels/hand_built_message.hpp"

namespace ringkernel::test {
namespace {

constexpr rk_u32 chain_rows = 3, chain_columns = 40;
constexpr rk_u32 chain_count = chain_rows * chain_columns;
constexpr rk_u32 chain_bytes = chain_count * sizeof(float);

/// Arena: the commands, then a row. (input + row), relu, input - that, into the reply.
struct ChainMessage {
  static constexpr rk_u64 commands_at = 128, row_at = 8192, arena_bytes = 16384;

  alignas(64) std::array<rk_u8, 1024> payload{};
  alignas(64) std::array<rk_u8, chain_bytes + 32> reply{};
  alignas(64) std::array<rk_u8, arena_bytes> arena{};
  MessageMemory memory{payload.data(),   1024,         64,         reply.data(),
                       chain_bytes + 32, arena.data(), arena_bytes};

  ChainMessage() {
    rk_command graph{};
    graph.op = RK_OP_GRAPH;
    graph.input_count = graph.output_count = 1;
    graph.inputs[0] = flat(384, chain_count);
    graph.output = flat(0, chain_count);
    graph.attrs.graph.commands = commands_at;
    graph.attrs.graph.count = 3;
    std::memcpy(payload.data() + 64, &graph, sizeof graph);
    for (rk_u32 i = 0; i < chain_count; ++i) put(payload.data() + 384, i, x(i));
    for (rk_u32 i = 0; i < chain_columns; ++i) put(arena.data() + row_at, i, y(i));
    step(0) = command(Op::add, whole(RK_PLACE_MESSAGE), row(), whole(RK_PLACE_CHAIN));
    step(1) = command(Op::relu, whole(RK_PLACE_CHAIN), {}, whole(RK_PLACE_CHAIN));
    step(2) =
        command(Op::sub, whole(RK_PLACE_MESSAGE), whole(RK_PLACE_CHAIN), whole(RK_PLACE_MESSAGE));
  }
  static float x(rk_u32 i) { return static_cast<float>(i % 7) - 3; }
  static float y(rk_u32 i) { return static_cast<float>(i % 5) - 1; }
  static void put(rk_u8* to, rk_u32 i, float value) {
    std::memcpy(to + i * sizeof value, &value, sizeof value);
  }
  [[nodiscard]] float result(rk_u32 i) const {
    float value = 0;
    std::memcpy(&value, reply.data() + i * sizeof value, sizeof value);
    return value;
  }
  static rk_operand flat(rk_u64 offset, rk_u32 elements) {
    return {
        offset, RK_PLACE_MESSAGE, RK_DTYPE_F32, 1, 0, elements, {elements, 1, 1, 1, 1, 1, 1, 1}};
  }
  static rk_operand whole(rk_u8 place) {
    return {
        0, place, RK_DTYPE_F32, 2, 0, chain_count, {chain_rows, chain_columns, 1, 1, 1, 1, 1, 1}};
  }
  static rk_operand row() {
    return {row_at,
            RK_PLACE_ARENA,
            RK_DTYPE_F32,
            1,
            0,
            chain_columns,
            {chain_columns, 1, 1, 1, 1, 1, 1, 1}};
  }
  static rk_command command(Op op, const rk_operand& a, const rk_operand& b,
                            const rk_operand& out) {
    rk_command command{};
    command.op = static_cast<rk_u16>(op);
    command.input_count = b.rank == 0 ? 1 : 2;
    command.output_count = 1;
    command.inputs[0] = a;
    command.inputs[1] = b;
    command.output = out;
    return command;
  }
  rk_command& step(std::size_t i) {
    return reinterpret_cast<rk_command*>(arena.data() + commands_at)[i];
  }
  void set_count(rk_u32 commands) {
    rk_command graph{};
    std::memcpy(&graph, payload.data() + 64, sizeof graph);
    graph.attrs.graph.count = commands;
    std::memcpy(payload.data() + 64, &graph, sizeof graph);
  }
};

void expect_refusal(Errc fault, const std::function<void(ChainMessage&)>& spoil) {
  for (const Programs& programs : available_programs()) {
    ChainMessage message;
    spoil(message);
    const auto reply = message.reply;
    const auto arena = message.arena;
    EXPECT_EQ(programs.core(message.memory, 0, 1).fault, static_cast<rk_u32>(fault))
        << programs.level;
    EXPECT_TRUE(message.reply == reply && message.arena == arena) << programs.level;
  }
}

TEST(ChainCommand, HandsValuesOnWithRowsThatRepeat) {
  for (const Programs& programs : available_programs()) {
    ChainMessage message;
    ASSERT_EQ(programs.core(message.memory, 0, 1), success) << programs.level;
    for (rk_u32 i = 0; i < chain_count; ++i) {
      const float sum = ChainMessage::x(i) + ChainMessage::y(i % chain_columns);
      ASSERT_EQ(message.result(i), ChainMessage::x(i) - (sum > 0 ? sum : 0)) << programs.level << i;
    }
    for (std::size_t i = chain_bytes; i < message.reply.size(); ++i) ASSERT_EQ(message.reply[i], 0);
  }
}

TEST(ChainCommand, IsAsLongAsTheProtocolSays) {
  const auto fill = [](ChainMessage& message, rk_u32 length) {
    for (rk_u32 i = 1; i < length; ++i)
      message.step(i) = ChainMessage::command(
          Op::neg, ChainMessage::whole(RK_PLACE_CHAIN), {},
          ChainMessage::whole(i + 1 == length ? RK_PLACE_MESSAGE : RK_PLACE_CHAIN));
    message.set_count(length);
  };
  for (const Programs& programs : available_programs()) {
    ChainMessage message;
    fill(message, RK_CHAIN_COMMANDS_MAX);
    ASSERT_EQ(programs.core(message.memory, 0, 1), success) << programs.level;
    EXPECT_EQ(message.result(1), -(ChainMessage::x(1) + ChainMessage::y(1)));
  }
  expect_refusal(Errc::bad_command,
                 [&](ChainMessage& message) { fill(message, RK_CHAIN_COMMANDS_MAX + 1); });
  expect_refusal(Errc::bad_command, [](ChainMessage& message) { message.set_count(2); });
}

TEST(ChainCommand, EachOfItsCommandsIsChecked) {
  const auto step = [](std::size_t i, Errc fault, const std::function<void(rk_command&)>& change) {
    expect_refusal(fault, [&](ChainMessage& message) { change(message.step(i)); });
  };
  // What begins a chain has nothing that was handed on; what goes on with it has.
  step(0, Errc::bad_operand, [](rk_command& c) { c.inputs[0].place = RK_PLACE_CHAIN; });
  step(1, Errc::bad_shape, [](rk_command& c) { c.inputs[0].place = RK_PLACE_MESSAGE; });
  // Ops of vectors of floats only.
  step(1, Errc::bad_command, [](rk_command& c) { c.op = static_cast<rk_u16>(Op::copy); });
  step(1, Errc::bad_command, [](rk_command& c) { c.op = static_cast<rk_u16>(Op::sum_all); });
  step(1, Errc::unknown_op, [](rk_command& c) { c.op = RK_OP_GRAPH; });
  step(1, Errc::bad_command, [](rk_command& c) { c.input_count = 2; });
  step(1, Errc::bad_command, [](rk_command& c) { c.flags = 1; });
  step(1, Errc::bad_operand, [](rk_command& c) { c.inputs[0].dtype = RK_DTYPE_I32; });
  step(1, Errc::bad_operand, [](rk_command& c) { c.output.dtype = RK_DTYPE_I32; });
  step(0, Errc::bad_operand, [](rk_command& c) { c.inputs[1].dtype = RK_DTYPE_I32; });
  // One shape from the first to the last.
  const auto reshape = [](rk_operand& operand) {
    operand.dims[0] = chain_columns;
    operand.dims[1] = chain_rows;
  };
  step(1, Errc::bad_operand, [&](rk_command& c) { reshape(c.output); });
  step(1, Errc::bad_operand, [&](rk_command& c) { reshape(c.inputs[0]); });
  step(2, Errc::bad_operand, [&](rk_command& c) { reshape(c.output); });
  step(2, Errc::bad_shape, [&](rk_command& c) { reshape(c.inputs[0]); });
  step(2, Errc::bad_operand, [](rk_command& c) { c.output.element_count = 7; });
  // Where operands lie.
  step(0, Errc::bad_operand, [](rk_command& c) { c.inputs[1].offset = ChainMessage::arena_bytes; });
  step(2, Errc::bad_operand, [](rk_command& c) { c.inputs[0].offset = 64; });
  step(2, Errc::reply_too_small, [](rk_command& c) { c.output.offset = 64; });
}

TEST(ChainCommand, RowsAreTheInnermostDimsAndOfOneLength) {
  const auto second = [](ChainMessage& message, rk_u32 rank, std::array<rk_u32, 2> dims) {
    rk_operand& operand = message.step(0).inputs[1];
    operand.rank = static_cast<rk_u8>(rank);
    operand.dims[0] = dims[0];
    operand.dims[1] = dims[1];
    operand.element_count = dims[0] * dims[1];
  };
  for (const Programs& programs : available_programs()) {
    ChainMessage one, row;
    second(one, 2, {1, 1});
    second(row, 2, {1, chain_columns});
    ASSERT_EQ(programs.core(one.memory, 0, 1), success);
    ASSERT_EQ(programs.core(row.memory, 0, 1), success);
    const float sum = ChainMessage::x(44) + ChainMessage::y(0);
    EXPECT_EQ(one.result(44), ChainMessage::x(44) - (sum > 0 ? sum : 0));
    const float sum_of_row = ChainMessage::x(44) + ChainMessage::y(4);
    EXPECT_EQ(row.result(44), ChainMessage::x(44) - (sum_of_row > 0 ? sum_of_row : 0));
  }
  expect_refusal(Errc::bad_shape, [&](ChainMessage& m) { second(m, 2, {chain_rows, 1}); });
  expect_refusal(Errc::bad_shape, [&](ChainMessage& m) { second(m, 1, {chain_columns / 2, 1}); });
  expect_refusal(Errc::bad_shape, [&](ChainMessage& m) {
    second(m, 2, {1, 1});
    m.step(0).inputs[0] = m.step(0).inputs[1];  // nothing goes through all elements
  });
}

TEST(ChainCommand, MayWriteOverAnInputOnlyElementForElement) {
  const auto into_arena = [](ChainMessage& message, rk_u64 input, rk_u64 output) {
    message.step(2).inputs[0].place = RK_PLACE_ARENA;
    message.step(2).inputs[0].offset = input;
    message.step(2).output.place = RK_PLACE_ARENA;
    message.step(2).output.offset = output;
  };
  for (const Programs& programs : available_programs()) {
    ChainMessage message;
    into_arena(message, 4096, 4096);
    ASSERT_EQ(programs.core(message.memory, 0, 1), success) << programs.level;
    float value = 0;
    std::memcpy(&value, message.arena.data() + 4096 + 44 * sizeof value, sizeof value);
    const float sum = ChainMessage::x(44) + ChainMessage::y(4);
    EXPECT_EQ(value, 0 - (sum > 0 ? sum : 0));
  }
  expect_refusal(Errc::bad_operand, [&](ChainMessage& m) { into_arena(m, 4096, 4096 + 64); });
  expect_refusal(Errc::bad_operand, [&](ChainMessage& m) {
    into_arena(m, 4096, ChainMessage::row_at);  // the row is read again
  });
  expect_refusal(Errc::bad_operand, [&](ChainMessage& m) {
    into_arena(m, 4096, ChainMessage::row_at - 448);  // which ends among the row
  });
}

}  // namespace
}  // namespace ringkernel::test
