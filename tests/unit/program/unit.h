/// A device program as it is compiled natively: header, handlers and dispatch in one unit, behind
/// one function with a name of its own.
#include "rk_actor.h"

#if defined(__cplusplus)
extern "C"
#endif
    rk_u32
    RK_TEST_ENTRY(rk_message* message);

#include RK_TEST_SOURCE
#include RK_TEST_DISPATCH

rk_u32 RK_TEST_ENTRY(rk_message* message) { return rk_handle(message); }
