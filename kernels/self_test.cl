/// Proves that a resident kernel sees the host's stores and the host sees its stores, while both
/// run. It answers pings until told to stop, and ends by itself after `polls_max` polls. Of several
/// work-groups each answers in lines of its own.
///
/// One poll looks at what the executor looks at when it is idle: a line of doorbells and a control
/// word, so that polls per millisecond measured here hold there. Ping, payload and answer are
/// ordered by the same helpers as positions and records in a ring, built with the same options.
#include "rk_device.h"
#include "self_test.h"

#if !defined(RK_SELF_TEST_FAULT)
#define RK_SELF_TEST_FAULT 0
#endif

/// The lines of the answer to ping `number` that are stored in steps `begin` to `end`.
RK_INLINE void rk_answer(RK_GLOBAL const rk_self_test_host_line* host,
                         RK_GLOBAL rk_self_test_device_line* device, rk_u32 number, rk_u32 begin,
                         rk_u32 end) {
  for (rk_u32 step = begin; step < end; ++step) {
    const rk_u32 first = RK_SELF_TEST_LINE(number, step) * RK_SELF_TEST_LINE_WORDS;
    for (rk_u32 word = first; word < first + RK_SELF_TEST_LINE_WORDS; ++word)
      device->payload[word] = ~host->payload[word];
  }
}

RK_KERNEL void rk_self_test(RK_GLOBAL const rk_self_test_host_line* host,
                            RK_GLOBAL rk_self_test_device_line* device) {
  device += rk_work_group();
  const rk_u32 polls_max = host->polls_max;
  rk_u32 seen[16];
  for (rk_u32 lane = 0; lane < 16; ++lane) seen[lane] = 0;
  const rk_u32 steps =
      RK_SELF_TEST_LINES - (RK_SELF_TEST_FAULT == RK_SELF_TEST_HELD_BACK ? 1u : 0u);
  rk_u32 remembered = 0;
  rk_u32 end = RK_SELF_TEST_EXHAUSTED;
  if (RK_SELF_TEST_FAULT == RK_SELF_TEST_HELD_UP && polls_max < 1u << 14)
    for (rk_u32 turn = 0; turn < 1u << 26; ++turn) (void)rk_load_relaxed_u32(&host->stop);
  // release: the host starts to ping when it sees this
  rk_store_release_u32(&device->started, 1);
  for (rk_u32 polls = 1; polls <= polls_max; ++polls) {
    if (rk_line_differs(host->ping, seen) != 0) {
      // acquire: the payload; pairs with the release of the ping in SelfTest::ping
      seen[0] = rk_load_acquire_u32(host->ping);
      if (RK_SELF_TEST_FAULT == RK_SELF_TEST_OVERTAKEN) {
        rk_store_release_u32(&device->pong, seen[0]);
        // Longer than a time slice: on a busy machine host and kernel may take turns on one core.
        for (rk_u32 turn = 0; turn < 1u << 25; ++turn) (void)rk_load_relaxed_u32(&host->stop);
      }
      rk_answer(host, device, seen[0], 0, steps);
      if (RK_SELF_TEST_FAULT == RK_SELF_TEST_REMEMBERED) {
        device->payload[0] = ~remembered;
        remembered = host->payload[0];
      }
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
  if (seen[0] != 0) rk_answer(host, device, seen[0], steps, RK_SELF_TEST_LINES);
  rk_store_release_u32(&device->stopped, end);
}
