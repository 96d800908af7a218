// The command that runs others: what it runs, and what it refuses before anything is written.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>

#include "ringkernel/protocol/command.h"
#include "unit/kernels/hand_built_message.hpp"

namespace ringkernel::test {
namespace {

constexpr rk_u32 graph_count = 16;  // words that go in, and come out
constexpr rk_u32 graph_bytes = graph_count * sizeof(float);

/// Payload: the command at 64, the input behind it. Arena: two commands, then 16 words between
/// them: relu(input) -> arena, neg(arena) -> reply.
struct GraphMessage {
  static constexpr rk_u64 commands_at = 128, value_at = 1024;

  alignas(64) std::array<rk_u8, 512> payload{};
  alignas(64) std::array<rk_u8, graph_bytes> reply{};
  alignas(64) std::array<rk_u8, 2048> arena{};
  MessageMemory memory{payload.data(), 512, 64, reply.data(), graph_bytes, arena.data(), 2048};

  GraphMessage() {
    rk_command graph{};
    graph.op = RK_OP_GRAPH;
    graph.input_count = 1;
    graph.output_count = 1;
    graph.inputs[0] = operand(RK_PLACE_MESSAGE, 384);
    graph.output = operand(RK_PLACE_MESSAGE, 0);
    graph.attrs.graph.commands = commands_at;
    graph.attrs.graph.count = 2;
    set(graph);
    step(0) = unary(Op::relu, operand(RK_PLACE_MESSAGE, 0), operand(RK_PLACE_ARENA, value_at));
    step(1) = unary(Op::neg, operand(RK_PLACE_ARENA, value_at), operand(RK_PLACE_MESSAGE, 0));
    std::array<float, graph_count> input{};
    for (std::size_t i = 0; i < graph_count; ++i) input[i] = static_cast<float>(i) - 4;
    std::memcpy(payload.data() + 384, input.data(), graph_bytes);
  }

  static rk_operand operand(rk_u8 place, rk_u64 offset) {
    rk_operand operand{
        offset, place, RK_DTYPE_F32, 1, 0, graph_count, {graph_count, 1, 1, 1, 1, 1, 1, 1}};
    return operand;
  }
  static rk_command unary(Op op, const rk_operand& input, const rk_operand& output) {
    rk_command command{};
    command.op = static_cast<rk_u16>(op);
    command.input_count = 1;
    command.output_count = 1;
    command.inputs[0] = input;
    command.output = output;
    return command;
  }
  [[nodiscard]] rk_command get() const {
    rk_command command{};
    std::memcpy(&command, payload.data() + 64, sizeof command);
    return command;
  }
  void set(const rk_command& command) {
    std::memcpy(payload.data() + 64, &command, sizeof command);
  }
  rk_command& step(std::size_t i) {
    return reinterpret_cast<rk_command*>(arena.data() + commands_at)[i];
  }
};

void expect_refusal_of(Errc fault, const std::function<void(GraphMessage&)>& spoil) {
  for (const Programs& programs : available_programs()) {
    GraphMessage message;
    spoil(message);
    const auto reply = message.reply;
    const auto arena = message.arena;
    EXPECT_EQ(programs.core(message.memory, 0, 1).fault, static_cast<rk_u32>(fault))
        << programs.level;
    EXPECT_TRUE(message.reply == reply && message.arena == arena) << programs.level;
  }
}

void expect_refusal(const std::function<void(rk_command&)>& spoil) {
  expect_refusal_of(Errc::bad_command, [&](GraphMessage& message) {
    rk_command command = message.get();
    spoil(command);
    message.set(command);
  });
}

TEST(GraphCommand, RunsItsCommandsInOrder) {
  for (const Programs& programs : available_programs()) {
    GraphMessage message;
    EXPECT_EQ(programs.core(message.memory, 0, 1), success) << programs.level;
    std::array<float, graph_count> result{};
    std::memcpy(result.data(), message.reply.data(), graph_bytes);
    for (std::size_t i = 0; i < graph_count; ++i)
      EXPECT_EQ(result[i], i < 4 ? 0 : 4 - static_cast<float>(i)) << programs.level;
  }
}

TEST(GraphCommand, MustNameCommandsInTheArena) {
  const std::uint64_t end = sizeof(GraphMessage::arena);
  for (const rk_u64 offset : {rk_u64{32}, rk_u64{129}, end - 64, end, ~rk_u64{0} - 63})
    expect_refusal([=](rk_command& graph) { graph.attrs.graph.commands = offset; });
  for (const rk_u32 many : {8u, RK_GRAPH_COMMANDS_MAX + 1, ~0u})
    expect_refusal([=](rk_command& graph) { graph.attrs.graph.count = many; });
}

TEST(GraphCommand, HasOneInputAndOneOutputInTheMessage) {
  for (const rk_u8 inputs : {rk_u8{0}, rk_u8{2}})
    expect_refusal([=](rk_command& graph) { graph.input_count = inputs; });
  expect_refusal([](rk_command& graph) { graph.output_count = 2; });
  expect_refusal([](rk_command& graph) { graph.inputs[0].place = RK_PLACE_ARENA; });
  expect_refusal([](rk_command& graph) { graph.output.place = RK_PLACE_ARENA; });
  expect_refusal([](rk_command& graph) { graph.flags = 1; });
  expect_refusal([](rk_command& graph) { graph.reserved = 1; });
}

TEST(GraphCommand, ItsOperandsAreCheckedAsThoseOfAnyCommand) {
  const auto spoil = [](Errc fault, const std::function<void(rk_command&)>& change) {
    expect_refusal_of(fault, [&](GraphMessage& message) {
      rk_command command = message.get();
      change(command);
      message.set(command);
    });
  };
  spoil(Errc::bad_operand, [](rk_command& graph) { graph.inputs[0].offset = 512; });
  spoil(Errc::bad_operand, [](rk_command& graph) { graph.inputs[0].element_count = 17; });
  spoil(Errc::reply_too_small, [](rk_command& graph) { graph.output.offset = 64; });
}

TEST(GraphCommand, EachOfItsCommandsIsChecked) {
  const auto first = [](Errc fault, const std::function<void(rk_command&)>& change) {
    expect_refusal_of(fault, [&](GraphMessage& message) { change(message.step(0)); });
  };
  first(Errc::unknown_op, [](rk_command& step) { step.op = RK_OP_GRAPH; });  // none in itself
  first(Errc::unknown_op, [](rk_command& step) { step.op = 999; });
  first(Errc::bad_command, [](rk_command& step) { step.input_count = 2; });
  first(Errc::bad_operand, [](rk_command& step) { step.inputs[0].offset = graph_bytes; });
  first(Errc::bad_operand, [](rk_command& step) { step.output.offset = 2048; });
  first(Errc::bad_shape, [](rk_command& step) {
    step.output.dims[0] = 8;
    step.output.element_count = 8;
  });
}

/// Two ring kernels run the same commands, and each has what lies between them for itself.
TEST(GraphCommand, HasARegionOfItsOwn) {
  for (const Programs& programs : available_programs()) {
    GraphMessage message;
    message.step(0).output = GraphMessage::operand(RK_PLACE_OWN, 64);
    message.step(1).inputs[0] = GraphMessage::operand(RK_PLACE_OWN, 64);
    for (const rk_u64 own : {rk_u64{1024}, rk_u64{1408}}) {
      rk_command graph = message.get();
      graph.attrs.graph.own = own;
      message.set(graph);
      const auto before = message.arena;
      EXPECT_EQ(programs.core(message.memory, 0, 1), success) << programs.level;
      for (std::size_t at = 0; at < before.size(); ++at)
        ASSERT_TRUE((at >= own + 64 && at < own + 64 + graph_bytes) ||
                    message.arena[at] == before[at])
            << programs.level << ", " << at;
      float between = 0;
      std::memcpy(&between, message.arena.data() + own + 64 + 7 * sizeof between, sizeof between);
      EXPECT_EQ(between, 3) << programs.level;
    }
  }
  const std::uint64_t end = sizeof(GraphMessage::arena);
  for (const rk_u64 own : {rk_u64{32}, rk_u64{1025}, end + 64, ~rk_u64{0} - 63})
    expect_refusal([=](rk_command& graph) { graph.attrs.graph.own = own; });
  expect_refusal_of(Errc::bad_operand, [&](GraphMessage& message) {
    rk_command graph = message.get();
    graph.attrs.graph.own = end - 64;
    message.set(graph);
    message.step(0).output = GraphMessage::operand(RK_PLACE_OWN, 64);
  });
}

/// The input and the output of the graph are entries 1 and 2 of the table; two tensors in the arena
/// have 16 words each. The table and the input follow each other in the message.
struct BoundMessage : GraphMessage {
  static constexpr rk_u64 tensor_at = 1408, other_at = 1600;

  BoundMessage(rk_u64 input, rk_u64 output, rk_u32 bindings = 2) {
    rk_command graph = get();
    graph.inputs[0] = operand(RK_PLACE_MESSAGE, 384 - 64);
    graph.inputs[0].element_count = graph.inputs[0].dims[0] = 2 * graph_count;
    graph.attrs.graph.bindings = bindings;
    set(graph);
    bind(0, input);
    bind(1, output);
    step(0).inputs[0].binding = 1;
    step(1).output.binding = 2;
    for (std::size_t i = 0; i < graph_count; ++i) {
      const float element = 10.0f + static_cast<float>(i);
      std::memcpy(arena.data() + tensor_at + i * sizeof element, &element, sizeof element);
    }
  }
  void bind(std::size_t entry, rk_u64 to) {
    std::memcpy(payload.data() + 384 - 64 + entry * sizeof to, &to, sizeof to);
  }
  [[nodiscard]] float first_at(rk_u64 offset) const {
    float element = 0;
    std::memcpy(&element, arena.data() + offset, sizeof element);
    return element;
  }
};

TEST(GraphCommand, FindsInputsAndOutputsWhereItsTableSays) {
  for (const Programs& programs : available_programs()) {
    const auto reply_of = [](const GraphMessage& message) {
      float element = 0;
      std::memcpy(&element, message.reply.data() + 5 * sizeof element, sizeof element);
      return element;
    };
    BoundMessage in(BoundMessage::tensor_at | RK_PLACE_ARENA, RK_PLACE_MESSAGE);
    EXPECT_EQ(programs.core(in.memory, 0, 1), success) << programs.level;
    EXPECT_EQ(reply_of(in), -15);
    BoundMessage neither(64 | RK_PLACE_MESSAGE, RK_PLACE_MESSAGE);
    EXPECT_EQ(programs.core(neither.memory, 0, 1), success) << programs.level;
    EXPECT_EQ(reply_of(neither), -1);
    BoundMessage both(BoundMessage::tensor_at | RK_PLACE_ARENA,
                      BoundMessage::other_at | RK_PLACE_ARENA);
    const auto reply = both.reply;
    rk_command graph = both.get();
    graph.output_count = 0;  // nothing is left for the reply
    graph.output = {};
    both.set(graph);
    EXPECT_EQ(programs.core(both.memory, 0, 1), success) << programs.level;
    EXPECT_EQ(both.reply, reply);
    EXPECT_EQ(both.first_at(BoundMessage::other_at), -10) << programs.level;
    // Where the command before has read all of the tensor, it may be written.
    BoundMessage same(BoundMessage::tensor_at | RK_PLACE_ARENA,
                      BoundMessage::tensor_at | RK_PLACE_ARENA);
    EXPECT_EQ(programs.core(same.memory, 0, 1), success) << programs.level;
    EXPECT_EQ(same.first_at(BoundMessage::tensor_at), -10) << programs.level;
    BoundMessage unused(0, 0, 0);  // no table, and where the commands say
    rk_command plain = unused.get();
    plain.inputs[0] = GraphMessage::operand(RK_PLACE_MESSAGE, 384);
    unused.set(plain);
    EXPECT_EQ(programs.core(unused.memory, 0, 1), success) << programs.level;
    EXPECT_EQ(reply_of(unused), -1);
  }
}

TEST(GraphCommand, RefusesTablesThatNameWhatIsNotThere) {
  const auto refused = [](Errc fault, rk_u64 input, rk_u64 output, rk_u32 bindings = 2) {
    for (const Programs& programs : available_programs()) {
      BoundMessage message(input, output, bindings);
      const auto reply = message.reply;
      const auto arena = message.arena;
      EXPECT_EQ(programs.core(message.memory, 0, 1).fault, static_cast<rk_u32>(fault))
          << programs.level << ", " << input << ", " << output;
      EXPECT_EQ(message.reply, reply);
      EXPECT_TRUE(std::equal(arena.begin() + BoundMessage::tensor_at, arena.end(),
                             message.arena.begin() + BoundMessage::tensor_at));
    }
  };
  constexpr rk_u64 good = BoundMessage::tensor_at | RK_PLACE_ARENA;
  constexpr rk_u64 end = sizeof(GraphMessage::arena);
  for (const rk_u64 place : {rk_u64{RK_PLACE_NONE}, rk_u64{RK_PLACE_CHAIN}, rk_u64{RK_PLACE_OWN},
                             rk_u64{5}, rk_u64{63}}) {
    refused(Errc::bad_operand, BoundMessage::tensor_at | place, RK_PLACE_MESSAGE);
    refused(Errc::bad_operand, good, BoundMessage::tensor_at | place);
  }
  for (const rk_u64 offset : {end, end - 32, ~rk_u64{63}, rk_u64{1} << 63}) {
    const rk_u64 beyond = offset & ~rk_u64{63};
    if (beyond + graph_bytes <= end) continue;
    refused(Errc::bad_operand, beyond | RK_PLACE_ARENA, RK_PLACE_MESSAGE);
    refused(Errc::bad_operand, good, beyond | RK_PLACE_ARENA);
    refused(Errc::bad_operand, beyond | RK_PLACE_MESSAGE, RK_PLACE_MESSAGE);
    refused(Errc::reply_too_small, good, beyond | RK_PLACE_MESSAGE);
  }
  refused(Errc::bad_operand, good, RK_PLACE_MESSAGE, 1);  // the output has no entry
  for (const rk_u32 many : {17u, RK_GRAPH_BINDINGS_MAX, RK_GRAPH_BINDINGS_MAX + 1, ~0u})
    refused(Errc::bad_command, good, RK_PLACE_MESSAGE, many);
  expect_refusal_of(Errc::bad_operand, [](GraphMessage& message) {
    rk_command graph = message.get();
    graph.inputs[0].binding = 1;  // it is in no graph
    message.set(graph);
  });
  expect_refusal_of(Errc::bad_operand, [](GraphMessage& message) {
    message.step(0).output.binding = 1;  // a place of its own
  });
}

/// Bound to a place that overlaps what the same command reads.
TEST(GraphCommand, RefusesAnOutputAmongItsOperands) {
  for (const Programs& programs : available_programs()) {
    BoundMessage message(BoundMessage::tensor_at | RK_PLACE_ARENA,
                         (GraphMessage::value_at + 64) | RK_PLACE_ARENA);
    rk_command& last = message.step(1);
    last.inputs[0] = GraphMessage::operand(RK_PLACE_ARENA, GraphMessage::value_at);
    last.inputs[0].element_count = last.inputs[0].dims[0] = 2 * graph_count;
    last.output.element_count = last.output.dims[0] = 2 * graph_count;
    EXPECT_EQ(programs.core(message.memory, 0, 1),
              refusal(Errc::bad_operand, static_cast<rk_u64>(RK_INPUTS_MAX)))
        << programs.level;
  }
}

TEST(GraphCommand, StopsAtTheCommandThatFails) {
  for (const Programs& programs : available_programs()) {
    GraphMessage message;
    message.step(1).op = 999;
    const auto reply = message.reply;
    EXPECT_EQ(programs.core(message.memory, 0, 1), refusal(Errc::unknown_op, 999))
        << programs.level;
    EXPECT_EQ(message.reply, reply) << programs.level;
  }
}

// Several lanes would have to wait for each other between the commands.
TEST(GraphCommand, IsForOneLane) {
  for (const Programs& programs : available_programs()) {
    GraphMessage message;
    EXPECT_EQ(programs.core(message.memory, 0, 2).fault, static_cast<rk_u32>(Errc::bad_command));
  }
}

}  // namespace
}  // namespace ringkernel::test
