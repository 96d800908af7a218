/* A plugin of another version of the interface. */
#include <stddef.h>

#include "ringkernel/backend_abi.h"

__attribute__((visibility("default"))) const rk_backend* rk_backend_query(
    uint32_t host_abi_version) {
  (void)host_abi_version;
  return NULL;
}
