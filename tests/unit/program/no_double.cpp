// As a device without double precision has it.
#include "rk_actor.h"
#undef RK_HAS_F64
#define RK_HAS_F64 0
#include "trading.rk.h"  // has none

#include "sensor.rk.h"  // has some
