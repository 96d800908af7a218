/// The executor's part of turns (rk_turn.h): how far an op has come is noted in its kernel's device
/// line, where the next slice finds it. Programs whose handlers run to their end need nothing of
/// it.
#ifndef RINGKERNEL_RK_RESUME_H
#define RINGKERNEL_RK_RESUME_H

#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/record.h"
#include "rk_slice.h"
#include "rk_turn.h"

#if defined(RK_RESUMES)
/// What the handler needs to know of the message's time, and of what earlier turns have done.
RK_INLINE void rk_slice_take_turn(RK_LOCAL rk_slice* slice, rk_u32 kernel,
                                  RK_GLOBAL const rk_record_header* request) {
  RK_GLOBAL const rk_kernel_device_line* device = &slice->kernel_devices[kernel];
  RK_LOCAL rk_turn* turn = &slice->turn;
  const rk_u32 resumed = device->unfinished;
  turn->step = resumed ? device->resume_step : 0;
  turn->command = resumed ? device->resume_command : 0;
  turn->deadline_ns = resumed ? device->resume_deadline : request->fault_detail;
  // A resumed op has looked at the clock: its time counts from there.
  turn->timeout_ns = resumed ? 0 : request->done_ticks;
}

/// The handler has returned RK_AGAIN.
RK_INLINE void rk_slice_leave_turn(RK_LOCAL rk_slice* slice, rk_u32 kernel, rk_u64 taken_ticks) {
  RK_GLOBAL rk_kernel_device_line* device = &slice->kernel_devices[kernel];
  device->unfinished = 1;
  device->resume_command = slice->turn.command;
  device->resume_step = slice->turn.step;
  device->resume_deadline = slice->turn.deadline_ns;
  device->resume_taken = taken_ticks;
  ++slice->turns;
  slice->unfinished = 1;
}
#endif

/// Whether the kernel's oldest request was begun in an earlier turn.
RK_INLINE rk_u32 rk_kernel_is_unfinished(RK_GLOBAL const rk_kernel_device_line* device) {
#if defined(RK_RESUMES)
  return device->unfinished != 0;
#else
  (void)device;
  return 0;
#endif
}

/// Whether a visit that has answered so many requests has taken its time.
RK_INLINE rk_u32 rk_slice_has_had_turn(RK_LOCAL rk_slice* slice, rk_u32 taken) {
#if defined(RK_RESUMES)
  return taken != 0 && rk_turn_next(&slice->turn, 0) != RK_FAULT_NONE;
#else
  (void)slice;
  (void)taken;
  return 0;
#endif
}

#if defined(RK_RESUMES)
/// Whether a marked kernel waits for its turn: its op is not finished. One such kernel has a turn
/// in each pass, the next one in order, so that they all keep the others waiting for one turn.
RK_INLINE rk_u32 rk_slice_waits(RK_LOCAL const rk_slice* slice, rk_u32 kernel, rk_u32* next,
                                rk_u32* first) {
  if (!rk_kernel_is_unfinished(&slice->kernel_devices[kernel])) return 0;
  // relaxed: a hint; the visit looks at the epoch first. Whoever is to end waits for no turn.
  if (rk_load_relaxed_u32(&slice->kernel_hosts[kernel].state) == RK_KERNEL_ABSENT) return 0;
  if (*first == RK_KERNELS_MAX) *first = kernel;
  if (*next == RK_KERNELS_MAX && kernel > slice->last_turn) *next = kernel;
  return 1;
}
#endif

/// Turns of this slice that left an op unfinished: to its budget they are records.
RK_INLINE rk_u64 rk_slice_turns(RK_LOCAL const rk_slice* slice) {
#if defined(RK_RESUMES)
  return slice->eager ? 0 : slice->turns;
#else
  (void)slice;
  return 0;
#endif
}

/// Whether an eager slice has done what it was started for, and ops of other kernels are left that
/// take long: they do not keep its thread.
RK_INLINE rk_u32 rk_slice_leaves_unfinished(RK_LOCAL const rk_slice* slice) {
#if defined(RK_RESUMES)
  const rk_u32 kernel = slice->eager_kernel;
  return kernel < RK_KERNELS_MAX && slice->left != 0 && slice->unfinished != 0 &&
         (slice->work[kernel / 32u] >> (kernel % 32u) & 1u) == 0;
#else
  (void)slice;
  return 0;
#endif
}

#endif
