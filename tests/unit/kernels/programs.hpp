/// The device programs as functions, once per instruction-set level of the host.
///
/// Threading: any thread.
#pragma once

#include <string>
#include <vector>

#include "ringkernel/protocol/abi.h"

namespace ringkernel::test {

/// What an executor hands to a program (kernels/rk_message.h), without device types.
struct MessageMemory {
  const rk_u8* payload;
  rk_u32 payload_bytes;
  rk_u32 command_offset;
  rk_u8* reply;
  rk_u32 reply_bytes;
  rk_u8* arena;
  rk_u64 arena_bytes;
};

/// What the program answers.
struct Outcome {
  rk_u32 fault;
  rk_u64 detail;

  bool operator==(const Outcome&) const = default;
};

/// `core` and `echo` at one level.
struct Programs {
  std::string level;
  Outcome (*core)(const MessageMemory& memory, rk_u32 lane, rk_u32 lanes);
  Outcome (*echo)(const MessageMemory& memory, rk_u32 lane, rk_u32 lanes);
};

/// The levels that this processor has, simplest first; never empty.
[[nodiscard]] std::vector<Programs> available_programs();

}  // namespace ringkernel::test
