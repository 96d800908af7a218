// What stands before a handler and behind it.
#include <gtest/gtest.h>

#include "program/schema.hpp"
#include "unit/program/device_message.hpp"
#include "unit/program/samples.hpp"

extern "C" rk_u32 trading_c(rk_message*);

namespace ringkernel::program::test {
namespace {

constexpr std::size_t state_bytes = 16;
const std::uint32_t book = name_id("trading.Book");
const std::uint32_t submit = name_id("trading.Book.Submit");

Bytes order(std::uint32_t qty) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(trading::CreateOrder(builder, 77, 2.0f, qty));
  return bytes_of(builder);
}

/// Expects the fault, its detail, and no reply.
void expect_fault(DeviceMessage& message, rk_u32 fault, rk_u64 detail) {
  const rk_u32 room = message.message.reply_bytes;
  EXPECT_EQ(trading_c(&message.message), fault);
  EXPECT_EQ(message.message.fault_detail, detail);
  EXPECT_EQ(message.message.reply_bytes, room);
}

TEST(ProgramDispatch, RefusesAMethodThatItDoesNotKnow) {
  DeviceMessage unknown(order(1), book, submit + 1, ack_bytes, state_bytes);
  expect_fault(unknown, RK_FAULT_unknown_method, submit + 1);
  DeviceMessage foreign(order(1), book + 1, submit, ack_bytes, state_bytes);
  expect_fault(foreign, RK_FAULT_unknown_method, submit);
}

TEST(ProgramDispatch, RefusesAStateThatIsTooSmall) {
  DeviceMessage message(order(1), book, submit, ack_bytes, state_bytes - 1);
  expect_fault(message, RK_FAULT_state_mismatch, state_bytes);
}

TEST(ProgramDispatch, RefusesAReplyThatIsTooSmall) {
  DeviceMessage message(order(1), book, submit, ack_bytes - 1, state_bytes);
  expect_fault(message, RK_FAULT_reply_too_small, ack_bytes);
}

TEST(ProgramDispatch, RefusesARequestThatDoesNotOpen) {
  DeviceMessage message(Bytes(7), book, submit, ack_bytes, state_bytes);
  message.message.fault_detail = 5;
  expect_fault(message, RK_FAULT_malformed_request, 0);
}

TEST(ProgramDispatch, RefusesARequestThatTheHandlerCouldNotRead) {
  Bytes bytes = order(1);
  const auto* const table = flatbuffers::GetRoot<flatbuffers::Table>(bytes.data());
  auto* const entry = const_cast<std::uint8_t*>(table->GetVTable()) + trading::Order::VT_QTY;
  flatbuffers::WriteScalar<std::uint16_t>(entry, 0xfff8);
  DeviceMessage message(bytes, book, submit, ack_bytes, state_bytes);
  expect_fault(message, RK_FAULT_malformed_request, 0);
}

TEST(ProgramDispatch, PassesOnTheHandlersFault) {
  DeviceMessage message(order(0), book, submit, ack_bytes, state_bytes);
  expect_fault(message, RK_FAULT_HANDLER_BASE + 1, 77);
}

TEST(ProgramDispatch, TakesMoreRoomThanItNeeds) {
  DeviceMessage message(order(1), book, submit, ack_bytes + 100, state_bytes + 100);
  message.message.malformed = 1;  // of the message before
  EXPECT_EQ(trading_c(&message.message), RK_OK);
  EXPECT_EQ(message.message.reply_bytes, ack_bytes_without_legs);
}

TEST(ProgramDispatch, KeepsTheStateFromMessageToMessage) {
  DeviceMessage message(order(1), book, submit, ack_bytes, state_bytes);
  for (std::uint64_t i = 1; i < 4; ++i) {
    message.message.reply_bytes = ack_bytes;
    EXPECT_EQ(trading_c(&message.message), RK_OK);
    EXPECT_EQ(flatbuffers::GetRoot<trading::Ack>(message.reply.data())->orders(), i);
  }
}

}  // namespace
}  // namespace ringkernel::program::test
