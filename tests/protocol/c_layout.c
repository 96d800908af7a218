#include "protocol/c_layout.h"

#include "ringkernel/protocol/layout.h"
#include "ringkernel/protocol/version.h"

_Static_assert(__STDC_VERSION__ >= 201112L, "the protocol is C11");

const size_t rk_c_layout[] = {
#define RK_LAYOUT_TYPE(type, bytes) sizeof(type),
#define RK_LAYOUT_FIELD(type, field, offset) offsetof(type, field),
#include "ringkernel/protocol/layout.def"
};
const size_t rk_c_layout_count = sizeof rk_c_layout / sizeof rk_c_layout[0];
