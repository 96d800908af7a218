/// Proves that a resident kernel sees the host's stores and the host sees its stores, while both
/// run. It answers pings until told to stop, and ends by itself after `polls_max` polls. Of several
/// work-groups each answers in a line of its own.
///
/// One poll looks at what the executor looks at when it is idle: a line of doorbells and a control
/// word, so that polls per millisecond measured here hold there.
#include "rk_device.h"
#include "self_test.h"

RK_KERNEL void rk_self_test(RK_GLOBAL const rk_self_test_host_line* host,
                            RK_GLOBAL rk_self_test_device_line* device) {
  device += rk_work_group();
  const rk_u32 polls_max = host->polls_max;
  rk_u32 seen[16];
  for (rk_u32 lane = 0; lane < 16; ++lane) seen[lane] = 0;
  rk_u32 end = RK_SELF_TEST_EXHAUSTED;
  // release: the host starts to ping when it sees this
  rk_store_release_u32(&device->started, 1);
  for (rk_u32 polls = 1; polls <= polls_max; ++polls) {
    if (rk_line_differs(host->ping, seen) != 0) {
      // acquire: the payload; pairs with the release of the ping in SelfTest::ping
      seen[0] = rk_load_acquire_u32(host->ping);
      device->payload = ~host->payload;
      // release: behind the payload; pairs with the acquire in SelfTest::ping
      rk_store_release_u32(&device->pong, seen[0]);
    }
    // relaxed: the word stands alone
    if (rk_load_relaxed_u32(&host->stop) != 0) {
      end = RK_SELF_TEST_STOPPED;
      break;
    }
    // relaxed: a counter
    if ((polls & 1023u) == 0) rk_store_relaxed_u64(&device->polls, polls);
    rk_pause();
  }
  rk_store_release_u32(&device->stopped, end);
}
