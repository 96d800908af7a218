/// Writes every size and offset of the protocol as the device compiler of this very machine sees
/// them. The host expands the same list and refuses to open the device where a figure differs.
#include "ringkernel/protocol/layout.h"
#include "rk_device.h"

/// Added to every offset. A build that defines it shows what a device with another layout looks
/// like: that is how the refusal is tested.
#ifndef RK_LAYOUT_PROBE_SKEW
#define RK_LAYOUT_PROBE_SKEW 0
#endif

RK_KERNEL void rk_layout_probe(RK_GLOBAL rk_u32* figures) {
  rk_u32 count = 0;
#define RK_LAYOUT_TYPE(type, bytes) figures[count++] = (rk_u32)sizeof(type);
#define RK_LAYOUT_FIELD(type, field, offset) \
  figures[count++] = (rk_u32)RK_OFFSETOF(type, field) + RK_LAYOUT_PROBE_SKEW;
#include "ringkernel/protocol/layout.def"
}
