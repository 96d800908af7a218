/// The protocol as a C11 compiler lays it out: for each line of ringkernel/protocol/layout.def the
/// size of the type or the offset of the field.
#ifndef RINGKERNEL_TESTS_PROTOCOL_C_LAYOUT_H
#define RINGKERNEL_TESTS_PROTOCOL_C_LAYOUT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const size_t rk_c_layout[];
extern const size_t rk_c_layout_count;

#ifdef __cplusplus
}
#endif

#endif
