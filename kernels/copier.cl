/// The resident copier: one work-group that copies between the arena of the device and a mailbox in
/// memory of the host, batch by batch, while slices run. It does what a queue of copies does,
/// without the driver: a batch takes two or three trips over the bus.
///
/// Memory ordering: of one batch, each copy is done before the next begins, for whoever looks at
/// the device's memory; all are done before `done` says so to the host. The host reuses the mailbox
/// only behind that.
#include "copier.h"
#include "rk_device.h"

#if defined(__OPENCL_C_VERSION__)

#if defined(RK_PTX)
RK_INLINE ulong2 rk_load_unit(__global const ulong2* from) {
  ulong2 value;
  __asm__ volatile("ld.relaxed.sys.global.v2.u64 {%0,%1}, [%2];"
                   : "=l"(value.x), "=l"(value.y)
                   : "l"(from)
                   : "memory");
  return value;
}
RK_INLINE void rk_store_unit(__global ulong2* to, ulong2 value) {
  __asm__ volatile("st.relaxed.sys.global.v2.u64 [%0], {%1,%2};"
                   :
                   : "l"(to), "l"(value.x), "l"(value.y)
                   : "memory");
}
/// Between two copies: those who look are on this device.
RK_INLINE void rk_fence_device(void) { __asm__ volatile("fence.acq_rel.gpu;" : : : "memory"); }
#else
RK_INLINE ulong2 rk_load_unit(__global const ulong2* from) {
  __global const rk_u64* const words = (__global const rk_u64*)from;
  return (ulong2)(rk_load_relaxed_u64(words), rk_load_relaxed_u64(words + 1));
}
RK_INLINE void rk_store_unit(__global ulong2* to, ulong2 value) {
  __global rk_u64* const words = (__global rk_u64*)to;
  rk_store_relaxed_u64(words, value.x);
  rk_store_relaxed_u64(words + 1, value.y);
}
RK_INLINE void rk_fence_device(void) { rk_fence_seq_cst(); }
#endif

/// Copies as wide as place and length allow; words of 4 and 8 bytes whole.
RK_INLINE void rk_copy_in(rk_bytes to, __local const ulong2* from, rk_u32 bytes, rk_u32 lane) {
  const rk_u32 odd = ((rk_u32)(size_t)to | bytes) & 15u;
  if (odd == 0) {
    for (rk_u32 i = lane; i < bytes / 16u; i += RK_COPIER_LANES)
      rk_store_unit((__global ulong2*)to + i, from[i]);
  } else if ((odd & 7u) == 0) {
    for (rk_u32 i = lane; i < bytes / 8u; i += RK_COPIER_LANES)
      rk_store_relaxed_u64((__global rk_u64*)to + i, ((__local const rk_u64*)from)[i]);
  } else if ((odd & 3u) == 0) {
    for (rk_u32 i = lane; i < bytes / 4u; i += RK_COPIER_LANES)
      rk_store_relaxed_u32((__global rk_u32*)to + i, ((__local const rk_u32*)from)[i]);
  } else {
    for (rk_u32 i = lane; i < bytes; i += RK_COPIER_LANES)
      *(volatile __global uchar*)(to + i) = ((__local const uchar*)from)[i];
  }
}

RK_INLINE void rk_copy_out(rk_bytes to, rk_bytes from, rk_u32 bytes, rk_u32 lane) {
  const rk_u32 odd = ((rk_u32)(size_t)from | bytes) & 15u;
  if (odd == 0) {
    for (rk_u32 i = lane; i < bytes / 16u; i += RK_COPIER_LANES)
      rk_store_unit((__global ulong2*)to + i, rk_load_unit((__global const ulong2*)from + i));
  } else if ((odd & 7u) == 0) {
    for (rk_u32 i = lane; i < bytes / 8u; i += RK_COPIER_LANES)
      rk_store_relaxed_u64((__global rk_u64*)to + i,
                           rk_load_relaxed_u64((__global const rk_u64*)from + i));
  } else if ((odd & 3u) == 0) {
    for (rk_u32 i = lane; i < bytes / 4u; i += RK_COPIER_LANES)
      rk_store_relaxed_u32((__global rk_u32*)to + i,
                           rk_load_relaxed_u32((__global const rk_u32*)from + i));
  } else {
    for (rk_u32 i = lane; i < bytes; i += RK_COPIER_LANES)
      *(volatile __global uchar*)(to + i) = *(volatile __global const uchar*)(from + i);
  }
}

/// What lane 0 has found, for all.
#define RK_COPIER_AGAIN 0u
#define RK_COPIER_BATCH 1u
#define RK_COPIER_LEAVE 2u

__kernel __attribute__((reqd_work_group_size(RK_COPIER_LANES, 1, 1))) void rk_copier(
    rk_bytes mailbox, rk_bytes arena, rk_u32 run, __local ulong2* in) {
  // What to do; the batch's number, entries, units; lane 0's own: the batch done last, polls since.
  __local rk_u32* const found = (__local rk_u32*)(in + RK_COPIER_UNITS_IN);
  const rk_u32 lane = (rk_u32)get_local_id(0);
  RK_GLOBAL rk_copier_device_line* const device =
      (RK_GLOBAL rk_copier_device_line*)(mailbox + RK_COPIER_DEVICE_LINE);
  __global const ulong2* const host = (__global const ulong2*)mailbox;
  __global const ulong2* const batch = (__global const ulong2*)(mailbox + RK_COPIER_IN);
  if (lane == 0) {
    found[4] = rk_load_relaxed_u32(&device->done);  // relaxed: this kernel's own word
    found[5] = 0;
  }
  for (;;) {
    if (lane == 0) {
      const ulong2 line = rk_load_unit(host);  // batch; leave and polls_max
      found[0] = RK_COPIER_AGAIN;
      found[1] = (rk_u32)(line.x >> 32);
      found[2] = (rk_u32)(line.x >> 12) & 0xffu;
      found[3] = (rk_u32)line.x & 0xfffu;
      if (found[1] != found[4] && ((rk_u32)(line.x >> 20) & 0xfffu) == (run & RK_COPIER_RUN_MASK))
        found[0] = RK_COPIER_BATCH;
      else if ((rk_i32)((rk_u32)line.y - run) >= 0 || ++found[5] > (rk_u32)(line.y >> 32))
        found[0] = RK_COPIER_LEAVE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const rk_u32 what = found[0], number = found[1], entries = found[2], units = found[3];
    if (what == RK_COPIER_LEAVE) break;
    if (what == RK_COPIER_BATCH) {
      rk_fence_acquire();  // entries and data; pairs with the release of the batch's word
      for (rk_u32 i = lane; i < units; i += RK_COPIER_LANES) in[i] = rk_load_unit(batch + i);
      barrier(CLK_LOCAL_MEM_FENCE);
      rk_u32 taken = entries, given = 0;  // units
      for (rk_u32 i = 0; i < entries; ++i) {
        const rk_bytes place = arena + in[i].x;
        const rk_u32 bytes = (rk_u32)in[i].y;
        const rk_u32 length = (bytes + RK_COPIER_UNIT - 1u) / RK_COPIER_UNIT;
        if ((rk_u32)(in[i].y >> 32) == RK_COPIER_TO_DEVICE) {
          rk_copy_in(place, in + taken, bytes, lane);
          taken += length;
        } else {
          rk_copy_out(mailbox + RK_COPIER_OUT + given * RK_COPIER_UNIT, place, bytes, lane);
          given += length;
        }
        rk_fence_device();
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      }
      rk_fence_seq_cst();  // each lane's own stores to the host
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      if (lane == 0) {
        // release: behind the data; pairs with the acquire in ResidentCopier::look
        rk_store_release_u32(&device->done, number);
        found[4] = number;
        found[5] = 0;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // what was found is overwritten now
  }
  // release: behind what it has done; pairs with the acquire in ResidentCopier::has_left
  if (lane == 0) rk_store_release_u32(&device->left, run);
}

#endif
