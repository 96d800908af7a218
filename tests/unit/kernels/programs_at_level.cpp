// The handlers of the device programs at one instruction-set level. Defining the guard of
// ring_kernel.cl leaves the executor out: the tests are the executor.
#include "ringkernel/protocol/command.h"
#include "rk_device.h"
#include "unit/kernels/programs.hpp"

#define RINGKERNEL_RING_KERNEL_CL

namespace {
#include "rk_message.h"

namespace core {
#include "programs/core.cl"
}
namespace echo {
#include "programs/echo.cl"
}

rk_message message_of(const ringkernel::test::MessageMemory& memory) {
  rk_message message{};
  message.payload = memory.payload;
  message.payload_bytes = memory.payload_bytes;
  message.command_offset = memory.command_offset;
  message.reply = memory.reply;
  message.reply_bytes = memory.reply_bytes;
  message.arena = memory.arena;
  message.arena_bytes = memory.arena_bytes;
  return message;
}
}  // namespace

#define RK_TEST_NAME_(program, level) program##_##level
#define RK_TEST_NAME(program, level) RK_TEST_NAME_(program, level)

namespace ringkernel::test {

Outcome RK_TEST_NAME(core, RK_TEST_LEVEL)(const MessageMemory& memory, rk_u32 lane, rk_u32 lanes) {
  rk_message message = message_of(memory);
  const rk_u32 fault =
      lanes == 1 ? core::rk_handle(&message) : core::rk_dispatch(&message, lane, lanes);
  return {fault, message.fault_detail};
}

Outcome RK_TEST_NAME(echo, RK_TEST_LEVEL)(const MessageMemory& memory, rk_u32, rk_u32) {
  rk_message message = message_of(memory);
  const rk_u32 fault = echo::rk_handle(&message);
  return {fault, message.fault_detail};
}

}  // namespace ringkernel::test
