/// All structs of the protocol, and that they have the sizes and offsets of layout.def: on the host
/// in C++ and C, and on the device (kernels/layout_probe.cl).
#ifndef RINGKERNEL_PROTOCOL_LAYOUT_H
#define RINGKERNEL_PROTOCOL_LAYOUT_H

#include "ringkernel/protocol/command.h"
#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/doorbell.h"
#include "ringkernel/protocol/op_attrs.h"
#include "ringkernel/protocol/record.h"
#include "ringkernel/protocol/ring.h"
#include "ringkernel/protocol/telemetry_block.h"

#define RK_LAYOUT_TYPE(type, bytes) RK_LAYOUT(type, bytes);
#define RK_LAYOUT_FIELD(type, field, offset)             \
  RK_STATIC_ASSERT(RK_OFFSETOF(type, field) == (offset), \
                   #type "." #field " moved: bump RK_PROTOCOL_VERSION");
#include "ringkernel/protocol/layout.def"

#endif
