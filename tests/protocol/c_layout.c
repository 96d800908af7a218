#include "protocol/c_layout.h"

#include "ringkernel/protocol/abi.h"
#include "ringkernel/protocol/command.h"
#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/doorbell.h"
#include "ringkernel/protocol/op_attrs.h"
#include "ringkernel/protocol/record.h"
#include "ringkernel/protocol/ring.h"
#include "ringkernel/protocol/telemetry_block.h"
#include "ringkernel/protocol/version.h"

_Static_assert(__STDC_VERSION__ >= 201112L, "the protocol is C11");

const size_t rk_c_layout[] = {
#define RK_LAYOUT_TYPE(type) sizeof(type),
#define RK_LAYOUT_FIELD(type, field) offsetof(type, field),
#include "kernels/layout_fields.def"
#undef RK_LAYOUT_FIELD
#undef RK_LAYOUT_TYPE
};
const size_t rk_c_layout_count = sizeof rk_c_layout / sizeof rk_c_layout[0];
