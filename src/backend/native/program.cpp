// One device program at one instruction-set level: the very sources that the OpenCL backend builds,
// compiled as C++ into a namespace of their own.
#include "rk_device.h"

#include <new>

#include "ringkernel/protocol/command.h"
#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/doorbell.h"
#include "ringkernel/protocol/record.h"
#include "ringkernel/protocol/ring.h"
#include "ringkernel/protocol/telemetry_block.h"
#include "ringkernel/protocol/version.h"
#include "rk_hosted_abi.h"
#include "rk_message.h"

#define RK_REMEMBERS

namespace {
#include RK_NATIVE_SOURCE
}

#define RK_NATIVE_NAME_(program, level) rk_native_##program##_##level
#define RK_NATIVE_NAME(program, level) RK_NATIVE_NAME_(program, level)

extern "C" void RK_NATIVE_NAME(RK_NATIVE_PROGRAM, RK_NATIVE_LEVEL)(rk_u8* arena, rk_u64 arena_bytes,
                                                                   rk_u64 executor_offset,
                                                                   rk_u32 slice, rk_u32 group,
                                                                   rk_u8* workspace, rk_u8* local,
                                                                   const rk_slice_code* code) {
  // Of an implicit-lifetime type: zeroed memory is one, and so is what a slice left there.
  auto* const place = std::launder(reinterpret_cast<rk_slice*>(local));
#if defined(RK_HOSTED)
  place->handler = code->handler;
  place->migrate = code->migrate;
#endif
  rk_run_group(place, arena, arena_bytes, executor_offset, slice, group, workspace,
               code != nullptr ? code->version : 1);
}
