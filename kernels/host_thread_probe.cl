/// Tells which process the device's work-items are threads of. Built only where that may be the
/// host's own; a device where it is gets RK_ON_HOST_THREADS for all its programs.
#define RK_ON_HOST_THREADS
#include "rk_device.h"

RK_KERNEL void rk_host_thread_probe(RK_GLOBAL rk_u32* process_id) {
  rk_pause();
  rk_yield();
  *process_id = rk_process_id();
}
