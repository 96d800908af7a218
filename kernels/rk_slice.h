/// A work-group's view of its executor's region during one slice, and its look at the doorbells.
///
/// Memory ordering: docs/PROTOCOL.md, "Doorbells".
#ifndef RINGKERNEL_RK_SLICE_H
#define RINGKERNEL_RK_SLICE_H

#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/doorbell.h"
#include "ringkernel/protocol/telemetry_block.h"
#include "ringkernel/protocol/version.h"
#include "rk_idle.h"
#include "rk_turn.h"
#include "rk_workspace.h"

/// Lines of doorbells whose kernels share a word of `rk_slice.work`.
#define RK_LINES_PER_WORD (32u / RK_DOORBELLS_PER_LINE)

/// A work-group's view of its executor's region, and what it remembers during one slice. It lies in
/// the work-group's local memory: too large to be private on a GPU. On the host it stays for the
/// next slice, which a caller may run for a single message: to look at every kernel that was ever
/// used would take longer than the message (RK_REMEMBERS).
typedef struct rk_slice {
  rk_bytes arena;
  rk_u64 arena_bytes;
  rk_bytes workspace;
  RK_GLOBAL const rk_executor_host_line* host;
  RK_GLOBAL rk_executor_device_line* device;
  RK_GLOBAL const rk_doorbell_line* input_doorbells;
  RK_GLOBAL rk_doorbell_line* output_doorbells;
  RK_GLOBAL const rk_kernel_host_line* kernel_hosts;
  RK_GLOBAL rk_kernel_device_line* kernel_devices;
  RK_GLOBAL rk_telemetry_block* telemetry;
  rk_u32 number;
  rk_u32 group;
  rk_u32 groups;
  rk_u32 eager;
  rk_u32 eager_kernel; /* of an eager slice: as the host's line had it when it began */
  rk_idle idle;
  rk_u64 polls;
  rk_u64 records; /* handled by this work-group, all slices */
  rk_u64 records_at_start;
  RK_GLOBAL const rk_u64* hot; /* producer position of the ring drained last; 0: none */
  rk_u64 hot_seen;             /* what it was */
  rk_u32 hot_kernel;           /* whose ring it is */
  rk_u32 seen_lines;           /* lines whose `seen`, `own` and `work` are set */
  rk_u32 seen[RK_KERNELS_MAX]; /* epochs of the input doorbells seen last */
  rk_u32 own[RK_KERNELS_MAX / RK_DOORBELLS_PER_LINE]; /* bit i: lane i of the line is ours */
  rk_u32 work[RK_KERNELS_MAX / 32u];                  /* bit i: kernel i has to be visited */
  rk_u32 left;    /* not 0: the last pass left such bits behind */
  rk_u32 version; /* of the program, for replies */
#if defined(RK_RESUMES)
  rk_turn turn;
  rk_u32 turns;      /* of this slice, that left an op unfinished */
  rk_u32 unfinished; /* 1: the last pass left one */
  rk_u32 last_turn;  /* the kernel that went on with one last */
#endif
#if defined(RK_HOSTED)
  rk_handler handler;
  rk_handler migrate;
#endif
} rk_slice;
RK_STATIC_ASSERT(sizeof(rk_slice) <= RK_SLICE_BYTES, "Backends give it RK_SLICE_BYTES.");

RK_INLINE rk_u32 rk_region_acceptable(rk_u64 offset, rk_u64 bytes, rk_u64 arena_bytes) {
  return (offset & 63u) == 0 && bytes <= arena_bytes && offset <= arena_bytes - bytes;
}

/// Fills the view from the host line; 0 where an offset does not lie in the arena, or where the
/// executor has no such work-group.
RK_APART rk_u32 rk_slice_open(RK_LOCAL rk_slice* slice, rk_bytes arena, rk_u64 arena_bytes,
                              rk_u64 executor_offset, rk_u32 number, rk_u32 group) {
  if (!rk_region_acceptable(executor_offset, sizeof(rk_executor_host_line), arena_bytes)) return 0;
  RK_GLOBAL const rk_executor_host_line* host =
      (RK_GLOBAL const rk_executor_host_line*)(arena + executor_offset);
  // acquire: the rest of the line; pairs with the release of `magic` in Executor::open
  if (rk_load_acquire_u32(&host->magic) != RK_PROTOCOL_MAGIC ||
      host->version != RK_PROTOCOL_VERSION)
    return 0;
  const rk_u64 n = host->kernel_capacity;
  const rk_u64 groups = host->work_groups;
  if (n == 0 || n > RK_KERNELS_MAX || n % RK_DOORBELLS_PER_LINE != 0 ||
      groups > RK_WORK_GROUPS_MAX || group >= groups ||
      !rk_region_acceptable(host->device_line, groups * sizeof(rk_executor_device_line),
                            arena_bytes) ||
      !rk_region_acceptable(host->input_doorbells, n * sizeof(rk_u32), arena_bytes) ||
      !rk_region_acceptable(host->output_doorbells, n * sizeof(rk_u32), arena_bytes) ||
      !rk_region_acceptable(host->kernel_host_lines, n * sizeof(rk_kernel_host_line),
                            arena_bytes) ||
      !rk_region_acceptable(host->kernel_device_lines, n * sizeof(rk_kernel_device_line),
                            arena_bytes) ||
      !rk_region_acceptable(host->telemetry_blocks, n * sizeof(rk_telemetry_block), arena_bytes))
    return 0;
  slice->arena = arena;
  slice->arena_bytes = arena_bytes;
  slice->host = host;
  slice->device = (RK_GLOBAL rk_executor_device_line*)(arena + host->device_line) + group;
  slice->input_doorbells = (RK_GLOBAL const rk_doorbell_line*)(arena + host->input_doorbells);
  slice->output_doorbells = (RK_GLOBAL rk_doorbell_line*)(arena + host->output_doorbells);
  slice->kernel_hosts = (RK_GLOBAL const rk_kernel_host_line*)(arena + host->kernel_host_lines);
  slice->kernel_devices = (RK_GLOBAL rk_kernel_device_line*)(arena + host->kernel_device_lines);
  slice->telemetry = (RK_GLOBAL rk_telemetry_block*)(arena + host->telemetry_blocks);
  slice->number = number;
  slice->group = group;
  slice->groups = host->work_groups;
  slice->eager = rk_load_relaxed_u32(&host->eager_slice) == number;
  slice->eager_kernel = rk_load_relaxed_u32(&host->eager_kernel);
  slice->polls = slice->device->polls;
  slice->records = slice->device->records;
  slice->records_at_start = slice->records;
  return 1;
}

/// Kernels that may exist; the arrays are never read beyond their capacity.
RK_INLINE rk_u32 rk_slice_kernels(RK_LOCAL const rk_slice* slice) {
  // acquire: the lines of the kernels below the count; pairs with the release in Executor::attach
  const rk_u32 count = rk_load_acquire_u32(&slice->host->kernel_count);
  return count < slice->host->kernel_capacity ? count : slice->host->kernel_capacity;
}

RK_INLINE void rk_slice_mark(RK_LOCAL rk_slice* slice, rk_u32 kernel) {
  slice->work[kernel / 32u] |= 1u << (kernel % 32u);
}

/// The lanes of a doorbell line whose kernels are this work-group's.
RK_INLINE rk_u32 rk_slice_own_lanes(RK_LOCAL const rk_slice* slice, rk_u32 line) {
  const rk_u32 groups = slice->groups;
  if (groups == 1) return 0xffffu;
  const rk_u32 first_group = line * RK_DOORBELLS_PER_LINE % groups;
  rk_u32 lanes = 0;
  for (rk_u32 lane = (slice->group + groups - first_group) % groups; lane < RK_DOORBELLS_PER_LINE;
       lane += groups)
    lanes |= 1u << lane;
  return lanes;
}

/// Readies one more line of doorbells, none of them seen yet and none of its kernels marked.
RK_INLINE void rk_slice_add_line(RK_LOCAL rk_slice* slice) {
  const rk_u32 line = slice->seen_lines++;
  RK_LOCAL rk_u32* seen = slice->seen + line * RK_DOORBELLS_PER_LINE;
  for (rk_u32 lane = 0; lane < RK_DOORBELLS_PER_LINE; ++lane) seen[lane] = 0;
  slice->own[line] = rk_slice_own_lanes(slice, line);
  if (line % RK_LINES_PER_WORD == 0) slice->work[line / RK_LINES_PER_WORD] = 0;
}

/// Looks at every doorbell; marks the own kernels that were rung. 1 if there was one.
RK_INLINE rk_u32 rk_slice_poll(RK_LOCAL rk_slice* slice) {
  const rk_u32 lines =
      (rk_slice_kernels(slice) + RK_DOORBELLS_PER_LINE - 1) / RK_DOORBELLS_PER_LINE;
  while (slice->seen_lines < lines) rk_slice_add_line(slice);
  rk_u32 rung = 0;
  for (rk_u32 line = 0; line < lines; ++line) {
    RK_LOCAL rk_u32* seen = slice->seen + line * RK_DOORBELLS_PER_LINE;
    RK_GLOBAL const rk_u32* epochs = slice->input_doorbells[line].epoch;
    const rk_u32 differs = rk_line_differs(epochs, seen);
    if (differs == 0) continue;
    rung |= differs & slice->own[line];
    for (rk_u32 left = differs; left != 0; left &= left - 1u) {
      const rk_u32 lane = rk_lowest_bit(left);
      // acquire: what the host published before it rang; pairs with the store in Executor::ring
      seen[lane] = rk_load_acquire_u32(epochs + lane);
      // That of another work-group is noted, too, or each poll would find it changed.
      if ((slice->own[line] >> lane & 1u) != 0)
        rk_slice_mark(slice, line * RK_DOORBELLS_PER_LINE + lane);
    }
  }
  return rung != 0;
}

#endif
