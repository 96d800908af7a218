/// The executor: resident work-groups of one work-item that serve the ring kernels of one program,
/// work-group g those whose index modulo the number of work-groups is g.
///
/// A program (kernels/programs/) defines `rk_handle` and includes this file, which turns it into
/// the kernel `rk_executor`. One run of it is a slice. In it each work-group by itself polls the
/// doorbells, drains what was rung, and parks when told to, when idle, or when its budget is used
/// up. Built with RK_GUARD, it stops kernels whose handlers write beyond their reply or state.
///
/// Threading: the slices of one executor run one after the other. Work-groups of one slice share
/// nothing that they write: every struct, and every word of an output doorbell line, belongs to
/// one.
/// Memory ordering: docs/PROTOCOL.md gives the argument for each store and fence below.
#ifndef RINGKERNEL_RING_KERNEL_CL
#define RINGKERNEL_RING_KERNEL_CL

#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/doorbell.h"
#include "ringkernel/protocol/telemetry_block.h"
#include "ringkernel/protocol/version.h"
#include "rk_idle.h"
#include "rk_message.h"
#include "rk_resume.h"
#include "rk_ring.h"
#include "rk_slice.h"
#if defined(RK_GUARD)
#include "rk_guard.h"
#endif

/// How often the heartbeat is stored: every 1024 polls (a power of two).
#define RK_HEARTBEAT_POLLS 1024u

/// Tells the host that something of this kernel changed on the device side.
RK_INLINE void rk_ring_host(RK_LOCAL rk_slice* slice, rk_u32 kernel) {
  RK_GLOBAL rk_u32* doorbell = &slice->output_doorbells[kernel / RK_DOORBELLS_PER_LINE]
                                    .epoch[kernel % RK_DOORBELLS_PER_LINE];
  // release: behind the published record; pairs with the acquire in Executor::poll_outputs
  rk_store_release_u32(doorbell, *doorbell + 1);
}

/// The program's handler: part of the executor's own text or, natively, of one that was loaded.
RK_INLINE rk_u32 rk_slice_handle(RK_LOCAL const rk_slice* slice, rk_message* message) {
#if defined(RK_HOSTED)
  return slice->handler(message);
#else
  (void)slice;
  return rk_handle(message);
#endif
}

/// Makes the kernel's state out of that of an earlier version. RK_FAULT_*.
RK_INLINE rk_u32 rk_slice_migrate(RK_LOCAL const rk_slice* slice, rk_u32 kernel) {
#if defined(RK_HOSTED) || defined(RK_MIGRATES)
  RK_GLOBAL const rk_kernel_host_line* host = &slice->kernel_hosts[kernel];
  if (!rk_region_acceptable(host->state_offset, host->state_bytes, slice->arena_bytes) ||
      !rk_region_acceptable(host->old_state, host->old_state_bytes, slice->arena_bytes))
    return RK_FAULT_bad_ring;
  rk_message message;
  message.payload = slice->arena + host->old_state;
  message.payload_bytes = host->old_state_bytes;
  message.selector = 0;
  message.reply = 0;
  message.reply_bytes = 0;
  message.malformed = 0;
  message.arena = slice->arena;
  message.arena_bytes = slice->arena_bytes;
  message.own = 0;
  message.bindings = 0;
  message.workspace = slice->workspace;
  message.state = slice->arena + host->state_offset;
  message.state_bytes = host->state_bytes;
  message.behaviour = host->behaviour;
  message.fault_detail = 0;
#if defined(RK_HOSTED)
  if (slice->migrate == 0) return RK_FAULT_state_mismatch;
  return slice->migrate(&message);
#else
  return rk_migrate(&message);
#endif
#else
  (void)slice;
  (void)kernel;
  return RK_FAULT_state_mismatch;
#endif
}

/// The whole kernel is unusable from here on; the first reason stays.
RK_INLINE void rk_fail_kernel(RK_LOCAL rk_slice* slice, rk_u32 kernel, rk_u32 fault) {
  rk_store_release_u32(&slice->kernel_devices[kernel].fault, fault);
  rk_ring_host(slice, kernel);
}

#if defined(RK_GUARD)
/// `rk_slice_handle` between two looks at what lies around reply and state. An overrun fails the
/// kernel, before anybody sees the reply that says so. The record gets the length that is
/// published: what was claimed behind it for the guard is not.
RK_INLINE rk_u32 rk_slice_handle_guarded(RK_LOCAL rk_slice* slice, rk_u32 kernel,
                                         rk_message* message, RK_GLOBAL rk_record_header* reply) {
  const rk_u32 room = message->reply_bytes;
  const rk_guard guard = rk_guard_set(message, reply);
  const rk_u32 fault = rk_slice_handle(slice, message);
  const rk_u32 overrun = rk_guard_overrun(&guard);
  reply->length = (rk_u32)rk_record_bytes(room);
  if (overrun == 0) return fault;
  message->fault_detail = overrun;
  rk_fail_kernel(slice, kernel, RK_FAULT_program_overran);
  return RK_FAULT_program_overran;
}
#endif

/// Answers one request whose reply space is claimed: prefix, handler, header, counters, publish,
/// ring. Who has a reply finds it counted: the counters are stored before it is published. 0: its
/// op is not finished, and the request stays where it is.
RK_INLINE rk_u32 rk_answer(RK_LOCAL rk_slice* slice, rk_u32 kernel, rk_output* output,
                           RK_GLOBAL const rk_record_header* request,
                           RK_GLOBAL rk_record_header* reply, rk_u32 fault) {
  const rk_u32 timed = request->flags & RK_RECORD_TIMED;
  rk_u64 taken_ticks = timed != 0 ? rk_ticks() : 0;
  rk_message message;
#if defined(RK_RESUMES)
  RK_GLOBAL rk_kernel_device_line* device = &slice->kernel_devices[kernel];
  const rk_u32 resumed = device->unfinished;
  message.turn = &slice->turn;
  rk_slice_take_turn(slice, kernel, request);
  if (resumed) taken_ticks = device->resume_taken;
#else
  const rk_u32 resumed = 0;
#endif
  message.payload = (rk_const_bytes)(request + 1);
  message.payload_bytes = request->payload_bytes;
  message.selector = request->selector;
  message.reply = (rk_bytes)(reply + 1);
  message.reply_bytes = fault == RK_FAULT_NONE ? request->reply_bytes : 0;
  message.arena = slice->arena;
  message.arena_bytes = slice->arena_bytes;
  message.workspace = slice->workspace;
#if !defined(RK_STATELESS)
  RK_GLOBAL const rk_kernel_host_line* host = &slice->kernel_hosts[kernel];
  message.state = slice->arena + host->state_offset;
  message.state_bytes = host->state_bytes;
  message.behaviour = host->behaviour;
#endif
  message.own = 0;
  message.bindings = 0;
  message.malformed = 0;
  message.fault_detail = 0;
  if (fault == RK_FAULT_NONE) {
    if (!resumed)
      rk_copy_bytes(message.reply, message.payload + request->prefix_offset, request->prefix_bytes);
#if defined(RK_GUARD)
    fault = rk_slice_handle_guarded(slice, kernel, &message, reply);
#else
    fault = rk_slice_handle(slice, &message);
#endif
  }
#if defined(RK_RESUMES)
  if (fault == RK_AGAIN) {
    rk_slice_leave_turn(slice, kernel, taken_ticks);
    return 0;
  }
  if (resumed) device->unfinished = 0;
#endif
  const rk_u32 length = reply->length;
  reply->kind = RK_RECORD_REPLY;
  reply->flags = (rk_u16)slice->version;
  reply->correlation_id = request->correlation_id;
  reply->selector = request->selector;
  reply->payload_bytes = fault == RK_FAULT_NONE ? message.reply_bytes : 0;
  reply->fault = fault;
  reply->fault_detail = message.fault_detail;
  reply->taken_ticks = taken_ticks;
  reply->done_ticks = timed != 0 ? rk_ticks() : 0;
  RK_GLOBAL rk_telemetry_block* counters = &slice->telemetry[kernel];
  rk_store_relaxed_u64(&counters->messages_in, counters->messages_in + 1);
  rk_store_relaxed_u64(&counters->messages_out, counters->messages_out + 1);
  rk_store_relaxed_u64(&counters->bytes_in, counters->bytes_in + request->length);
  rk_store_relaxed_u64(&counters->bytes_out, counters->bytes_out + length);
  rk_store_relaxed_u64(&counters->last_correlation_id, request->correlation_id);
  if (fault != RK_FAULT_NONE) {
    rk_store_relaxed_u64(&counters->faults, counters->faults + 1);
    rk_store_relaxed_u32(&counters->last_fault, fault);
  }
  rk_output_publish(output, length);
  rk_ring_host(slice, kernel);
  return 1;
}

/// RK_FAULT_bad_record where the lengths in a request's header contradict each other.
RK_INLINE rk_u32 rk_check_request(RK_GLOBAL const rk_record_header* request, rk_u64 capacity) {
  const rk_u64 payload_bytes = request->payload_bytes;
  const rk_u64 prefix_end = (rk_u64)request->prefix_offset + request->prefix_bytes;
  if (request->kind != RK_RECORD_REQUEST || rk_record_bytes(payload_bytes) != request->length ||
      prefix_end > payload_bytes || request->prefix_bytes > request->reply_bytes ||
      rk_record_bytes(request->reply_bytes) > RK_RING_RECORD_MAX(capacity))
    return RK_FAULT_bad_record;
  return RK_FAULT_NONE;
}

/// Claims reply space, or notes that the kernel has to wait for it. The note comes first, then a
/// full fence, then one more look: the host releases, fences, then reads the note, so that one of
/// the two sees the other (docs/PROTOCOL.md, "Back-pressure").
RK_INLINE RK_GLOBAL rk_record_header* rk_claim_or_wait(RK_LOCAL rk_slice* slice, rk_u32 kernel,
                                                       rk_output* output, rk_u32 reply_bytes) {
  RK_GLOBAL rk_kernel_device_line* device = &slice->kernel_devices[kernel];
  RK_GLOBAL rk_record_header* reply = 0;
#if defined(RK_GUARD)
  // Room for a guard behind it, if there is some: a guard waits for nothing.
  reply = rk_output_claim(output, (rk_u64)reply_bytes + RK_GUARD_BYTES);
#endif
  if (reply == 0) reply = rk_output_claim(output, reply_bytes);
  if (reply == 0) {
    RK_GLOBAL rk_telemetry_block* counters = &slice->telemetry[kernel];
    rk_store_relaxed_u64(&counters->backpressure_count, counters->backpressure_count + 1);
    rk_store_relaxed_u32(&device->backpressured, 1);
    rk_fence_seq_cst();
    reply = rk_output_claim(output, reply_bytes);
  }
  if (reply != 0 && device->backpressured != 0) rk_store_relaxed_u32(&device->backpressured, 0);
  return reply;
}

/// Drains one running kernel, at most `drain_records_max` records. 1 if it has to come back.
RK_INLINE rk_u32 rk_drain(RK_LOCAL rk_slice* slice, rk_u32 kernel, rk_u32 state_epoch) {
  RK_GLOBAL const rk_kernel_host_line* host = &slice->kernel_hosts[kernel];
  RK_GLOBAL rk_kernel_device_line* device = &slice->kernel_devices[kernel];
  if (!rk_ring_acceptable(host->input_ring, host->input_capacity, slice->arena_bytes) ||
      !rk_ring_acceptable(host->output_ring, host->output_capacity, slice->arena_bytes) ||
      !rk_region_acceptable(host->state_offset, host->state_bytes, slice->arena_bytes)) {
    rk_fail_kernel(slice, kernel, RK_FAULT_bad_ring);
    return 0;
  }
  rk_input input = rk_input_open(slice->arena, host->input_ring, host->input_capacity);
  rk_output output = rk_output_open(slice->arena, host->output_ring, host->output_capacity);
  if (!slice->eager) rk_input_prefetch(&input, device->last_record_bytes);
  const rk_u32 budget = slice->host->drain_records_max;
  rk_u32 ring_fault = RK_FAULT_NONE;
  rk_u32 again = 0;
  rk_u32 waits = 0;
  rk_u32 taken = 0;
#if defined(RK_RESUMES)
  rk_turn_begin(&slice->turn, kernel, rk_load_relaxed_u32(&slice->host->turn_ns));
#endif
  for (;;) {
    RK_GLOBAL const rk_record_header* request = rk_input_front(&input, &ring_fault);
    if (request == 0) break;
    // relaxed: only "has it changed"; the visit that follows reads it with acquire
    if (taken >= budget || rk_load_relaxed_u32(&host->state_epoch) != state_epoch ||
        rk_slice_has_had_turn(slice, taken)) {
      again = 1;
      if (!rk_kernel_is_unfinished(device)) break;
    }
    const rk_u32 fault = rk_check_request(request, output.capacity);
    const rk_u32 reply_bytes = fault == RK_FAULT_NONE ? request->reply_bytes : 0;
    RK_GLOBAL rk_record_header* reply = rk_claim_or_wait(slice, kernel, &output, reply_bytes);
    if (reply == 0) {
      waits = 1;
      break;
    }
    // Read here: a published reply says that its request is not looked at any more.
    const rk_u32 length = request->length;
    if (rk_answer(slice, kernel, &output, request, reply, fault) == 0) {
      again = 1;
      waits = 1;  // for its turn
      break;
    }
    if (device->last_record_bytes != length) device->last_record_bytes = length;
    rk_input_pop(&input, length);
    ++taken;
#if defined(RK_GUARD)
    if (device->fault != RK_FAULT_NONE) break;
#endif
  }
  if (taken != 0) rk_input_release(&input);
  // Who waits for space is rung when there is some, or for its turn is marked: more input is no
  // reason to come back.
  slice->hot = waits ? 0 : &input.ring->producer.position;
  slice->hot_seen = input.producer;
  slice->hot_kernel = kernel;
  if (ring_fault != RK_FAULT_NONE) rk_fail_kernel(slice, kernel, ring_fault);
  slice->records += taken;
  return again;
}

/// Obeys the kernel's state and drains it. 1 if it has to come back.
RK_INLINE rk_u32 rk_visit(RK_LOCAL rk_slice* slice, rk_u32 kernel) {
  RK_GLOBAL const rk_kernel_host_line* host = &slice->kernel_hosts[kernel];
  RK_GLOBAL rk_kernel_device_line* device = &slice->kernel_devices[kernel];
  // acquire: state and rings of this epoch; pairs with the release in Executor::set_state
  const rk_u32 epoch = rk_load_acquire_u32(&host->state_epoch);
  // acquire: the rings. An index that was in use before is visited at any moment, so this may be
  // the state of an epoch that is not there yet; pairs with the release in Executor::set_state
  const rk_u32 state = rk_load_acquire_u32(&host->state);
  rk_u32 finishes = 0;  // the record in hand, and takes nothing behind it: the epoch differs
  if (device->state_epoch != epoch) {
    if (state == RK_KERNEL_ABSENT) {
      rk_store_relaxed_u32(&device->fault, RK_FAULT_NONE);
      rk_store_relaxed_u32(&device->backpressured, 0);
#if defined(RK_RESUMES)
      device->unfinished = 0;  // its message ends with the kernel
    } else if (state == RK_KERNEL_PAUSED && device->unfinished != 0 &&
               device->fault == RK_FAULT_NONE) {
      finishes = 1;
#endif
    } else if (epoch == host->migration_epoch && host->old_state_bytes != 0) {
      const rk_u32 fault = rk_slice_migrate(slice, kernel);
      if (fault != RK_FAULT_NONE) rk_fail_kernel(slice, kernel, fault);
    }
    // release: the rings are left alone from here on unless running; pairs with Executor::obeyed
    if (!finishes) rk_store_release_u32(&device->state_epoch, epoch);
  }
  if (!finishes && (state != RK_KERNEL_RUNNING || device->fault != RK_FAULT_NONE)) {
    if (slice->hot_kernel == kernel) slice->hot = 0;  // its ring may be gone
    return 0;
  }
  return rk_drain(slice, kernel, device->state_epoch) | finishes;
}

/// Visits the kernel drained last if its ring has got more. A conversation with one kernel is the
/// usual one, and this saves it the trip of the doorbell's line before that of the position's.
RK_INLINE rk_u32 rk_slice_work_hot(RK_LOCAL rk_slice* slice) {
  // relaxed: a hint; the visit acquires
  if (slice->hot == 0 || rk_load_relaxed_u64(slice->hot) == slice->hot_seen) return 0;
  if (rk_visit(slice, slice->hot_kernel) != 0) rk_slice_mark(slice, slice->hot_kernel);
  return 1;
}

/// Visits every marked kernel once. 1 if there was one.
RK_INLINE rk_u32 rk_slice_work(RK_LOCAL rk_slice* slice) {
  const rk_u32 words = (slice->seen_lines + RK_LINES_PER_WORD - 1) / RK_LINES_PER_WORD;
#if defined(RK_RESUMES)
  rk_u32 next = RK_KERNELS_MAX;
  rk_u32 first = RK_KERNELS_MAX;
  slice->unfinished = 0;
  const rk_u64 records = slice->records;
#endif
  rk_u32 worked = rk_slice_work_hot(slice);
  slice->left = 0;
  // Once more than there are words, for the turn of an unfinished op: one place visits, because a
  // compiler for a GPU keeps the registers of whatever it calls.
  for (rk_u32 word = 0; word <= words; ++word) {
    rk_u32 marked = 0;
    rk_u32 at = word;
    if (word < words) {
      marked = slice->work[word];
    } else {
#if defined(RK_RESUMES)
      if (next == RK_KERNELS_MAX) next = first;
      if (next == RK_KERNELS_MAX) break;
      // Whoever waits on this core for an answer of this pass does not wait for the turn as well.
      // Twice: a thread that has yielded to this one comes behind it the first time.
      rk_idle_tell_core(slice->device);
      if (slice->records != records) {
        rk_yield();
        rk_yield();
      }
      slice->last_turn = next;
      rk_store_relaxed_u64(&slice->device->last_turn, next);  // relaxed: for the next slice
      slice->unfinished = 1;
      marked = 1u << (next % 32u);
      at = next / 32u;
#endif
    }
    if (marked == 0) continue;
    worked = 1;
    for (; marked != 0; marked &= marked - 1u) {
      const rk_u32 bit = rk_lowest_bit(marked);
#if defined(RK_RESUMES)
      if (word < words && rk_slice_waits(slice, at * 32u + bit, &next, &first)) continue;
#endif
      if (rk_visit(slice, at * 32u + bit) == 0) slice->work[at] &= ~(1u << bit);
    }
    slice->left |= slice->work[at];
  }
  return worked;
}

/// Whether the slice was asked to make room: for another program, or by work-groups that have
/// parked and are needed again, which the next slice brings back when all of this one have
/// returned.
RK_INLINE rk_u32 rk_slice_must_leave(RK_LOCAL const rk_slice* slice) {
  // relaxed: the words stand alone; they only say "end"
  return rk_load_relaxed_u32(&slice->host->leave_slice) == slice->number ||
         (slice->groups != 1 && rk_load_relaxed_u32(&slice->host->yield_slice) == slice->number);
}

/// RK_SLICE_*: why the slice should end at this point; 0 = go on.
RK_INLINE rk_u32 rk_slice_verdict(RK_LOCAL const rk_slice* slice, rk_u32 worked) {
  // relaxed: the words stand alone; they only say "end"
  if (rk_load_relaxed_u32(&slice->host->stop) != 0) return RK_SLICE_STOP;
  if (rk_slice_must_leave(slice)) return worked ? RK_SLICE_BUDGET : RK_SLICE_YIELD;
  if (!worked) {
    if (rk_load_relaxed_u32(&slice->host->yield_slice) == slice->number) return RK_SLICE_YIELD;
    return slice->eager || rk_idle_enough(&slice->idle, slice->host) ? RK_SLICE_IDLE : 0;
  }
  const rk_u32 limit =
      slice->eager ? RK_EAGER_RECORDS_MAX : rk_load_relaxed_u32(&slice->host->slice_records_max);
  const rk_u64 handled = slice->records - slice->records_at_start;
  if (limit != 0 && handled + rk_slice_turns(slice) >= limit) return RK_SLICE_BUDGET;
  if (slice->eager && rk_slice_leaves_unfinished(slice)) return RK_SLICE_BUDGET;
  // Not one more idle poll: parking looks at the doorbells once more.
  return slice->eager && slice->left == 0 ? RK_SLICE_IDLE : 0;
}

RK_INLINE void rk_slice_heartbeat(RK_LOCAL const rk_slice* slice) {
  rk_store_relaxed_u64(&slice->device->polls, slice->polls);
  rk_store_relaxed_u64(&slice->device->records, slice->records);
}

/// Publishes "parked", then looks at the doorbells once more behind a full fence: a host that rang
/// either sees "parked" and launches the next slice, or was early enough to be seen here. 1 if the
/// slice must go on.
RK_APART rk_u32 rk_slice_park(RK_LOCAL rk_slice* slice, rk_u32 reason) {
  rk_slice_heartbeat(slice);
  rk_store_relaxed_u32(&slice->device->end_reason, reason);
  rk_store_release_u32(&slice->device->parked_slice, slice->number);
  rk_fence_seq_cst();
  // Only a slice that drained what it saw may look again: the others leave work behind anyway.
  const rk_u32 drained = reason == RK_SLICE_IDLE || reason == RK_SLICE_YIELD;
  if (!drained || rk_slice_poll(slice) == 0) return 0;
  // The host may have launched the next slice meanwhile; it starts when this one has returned and
  // finds nothing to do.
  rk_store_release_u32(&slice->device->parked_slice, slice->number - 1);
  return 1;
}

/// What one work-group does in a slice. `slice` and `workspace` are its own. With RK_REMEMBERS,
/// `slice` is as the slice before left it, or zeroed: what that one saw is not looked at again, and
/// what it left is still marked.
RK_APART void rk_run_group(RK_LOCAL rk_slice* slice, rk_bytes arena, rk_u64 arena_bytes,
                           rk_u64 executor_offset, rk_u32 number, rk_u32 group, rk_bytes workspace,
                           rk_u32 version) {
  if (!rk_slice_open(slice, arena, arena_bytes, executor_offset, number, group)) return;
  slice->version = version;
  slice->workspace = workspace;
#if !defined(RK_REMEMBERS)
  slice->seen_lines = 0;
#endif
  slice->hot = 0;
  slice->hot_kernel = 0;
#if defined(RK_RESUMES)
  slice->turns = 0;
  slice->last_turn = (rk_u32)slice->device->last_turn;
#if !defined(RK_REMEMBERS)
  slice->turn.packed = 0;
#endif
#endif
  rk_store_relaxed_u64(&slice->device->slices, slice->device->slices + 1);
  rk_idle_open(&slice->idle, slice->device);
  rk_store_release_u32(&slice->device->running_slice, number);

  // A slice that does not remember the one before takes every doorbell that was ever rung for rung.
  rk_slice_poll(slice);
  for (;;) {
    const rk_u32 worked = rk_slice_work(slice);
    if (worked)
      rk_idle_reset(&slice->idle);
    else
      ++slice->idle.polls;
    const rk_u32 verdict = rk_slice_verdict(slice, worked);
    if (verdict != 0) {
      if (rk_slice_park(slice, verdict) == 0) return;
      rk_idle_reset(&slice->idle);
      continue;
    }
    if (!worked) rk_idle_turn(&slice->idle, slice->host, slice->device);
    rk_slice_poll(slice);
    if ((++slice->polls & (RK_HEARTBEAT_POLLS - 1)) != 0) continue;
    rk_slice_heartbeat(slice);
    rk_idle_tell_core(slice->device);
  }
}

#if defined(__OPENCL_C_VERSION__)
/// `workspaces` holds one for each work-group, and each has a `slice`, RK_SLICE_BYTES: an argument,
/// because PoCL 3.1's compiler crashes where it is a variable of the function.
RK_KERNEL void rk_executor(rk_bytes arena, rk_u64 arena_bytes, rk_u64 executor_offset,
                           rk_u32 number, rk_bytes workspaces, RK_LOCAL rk_slice* slice,
                           rk_u32 version) {
  const rk_u32 group = rk_work_group();
  rk_run_group(slice, arena, arena_bytes, executor_offset, number, group,
               workspaces + (rk_u64)group * RK_WORKSPACE_BYTES, version);
}
#endif

#endif
