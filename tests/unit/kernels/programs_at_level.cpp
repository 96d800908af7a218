// The handlers of the device programs at one instruction-set level. Defining the guard of
// ring_kernel.cl leaves the executor out: the tests are the executor.
#include <cstring>
#include <memory>
#include <new>

#include "ringkernel/protocol/command.h"
#include "rk_device.h"
#include "unit/kernels/programs.hpp"

#define RINGKERNEL_RING_KERNEL_CL
#define RK_RESUMES

namespace {
#include "rk_message.h"

namespace core {
#include "programs/core.cl"
}
namespace echo {
#include "programs/echo.cl"
}

/// For `lanes` lanes, which run one after the other. It keeps what the messages before have left,
/// and ends where its memory does, which AddressSanitizer watches.
rk_u8* workspace_of(rk_u32 lanes) {
  constexpr std::align_val_t line{64};
  struct Free {
    void operator()(rk_u8* memory) const { ::operator delete[](memory, line); }
  };
  thread_local std::unique_ptr<rk_u8[], Free> memory;
  thread_local rk_u32 held = 0;
  if (held != lanes) {
    const std::size_t bytes = std::size_t{lanes} * RK_WORKSPACE_BYTES;
    memory.reset(new (line) rk_u8[bytes]);
    std::memset(memory.get(), 0xff, bytes);  // NaN, if anybody takes it for a number
    held = lanes;
  }
  return memory.get();
}

rk_message message_of(const ringkernel::test::MessageMemory& memory, rk_u32 lanes) {
  rk_message message{};
  message.payload = memory.payload;
  message.payload_bytes = memory.payload_bytes;
  message.selector = memory.command_offset;
  message.reply = memory.reply;
  message.reply_bytes = memory.reply_bytes;
  message.arena = memory.arena;
  message.arena_bytes = memory.arena_bytes;
  message.workspace = workspace_of(lanes);
  return message;
}
}  // namespace

#define RK_TEST_NAME_(program, level) program##_##level
#define RK_TEST_NAME(program, level) RK_TEST_NAME_(program, level)

namespace ringkernel::test {

Outcome RK_TEST_NAME(core, RK_TEST_LEVEL)(const MessageMemory& memory, rk_u32 lane, rk_u32 lanes) {
  rk_message message = message_of(memory, lanes);
  if (lanes != 1) {
    const rk_u32 fault = core::rk_dispatch(&message, lane, lanes);
    return {fault, message.fault_detail};
  }
  // Left after each step; after every second one somebody else needs the workspace.
  rk_turn turn{};
  message.turn = &turn;
  rk_u32 fault = RK_AGAIN;
  for (rk_u32 turns = 0; fault == RK_AGAIN; ++turns) {
    if (turns % 2 != 0) {
      turn.packed = 0;
      std::memset(message.workspace, 0xff, RK_WORKSPACE_BYTES);
    }
    core::rk_turn_begin(&turn, 0, 1);
    fault = core::rk_handle(&message);
  }
  return {fault, message.fault_detail};
}

Outcome RK_TEST_NAME(echo, RK_TEST_LEVEL)(const MessageMemory& memory, rk_u32, rk_u32) {
  rk_message message = message_of(memory, 1);
  const rk_u32 fault = echo::rk_handle(&message);
  return {fault, message.fault_detail};
}

}  // namespace ringkernel::test
