/// The executor of programs whose handlers are compiled by themselves and loaded: native only.
#define RK_HOSTED
#include "rk_device.h"
#include "rk_message.h"

typedef rk_u32 (*rk_handler)(rk_message*);

#include "ring_kernel.cl"
