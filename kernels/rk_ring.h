/// The device's ends of the two rings of a ring kernel: it consumes the input and produces the
/// output.
///
/// Threading: one work-item per ring; the other end is the host.
/// Memory ordering: a record is read after the acquire load of the producer's position that covers
/// it, and written before the release store of the position that publishes it. The host's
/// counterparts are src/ring/producer.hpp and src/ring/consumer.hpp.
#ifndef RINGKERNEL_RK_RING_H
#define RINGKERNEL_RK_RING_H

#include "ringkernel/protocol/record.h"
#include "ringkernel/protocol/ring.h"
#include "rk_device.h"

/// Records are fetched ahead up to this size; what is longer streams by itself.
#define RK_PREFETCH_BYTES 1024u

/// Consumer end. Private; lives for one visit, the positions outlive it in the ring's own line.
typedef struct rk_input {
  RK_GLOBAL rk_ring* ring;
  rk_const_bytes data;
  rk_u64 capacity;
  rk_u64 position; /* consumed so far; published by rk_input_release */
  rk_u64 producer; /* last look at the producer's position */
} rk_input;

/// Producer end. Private; lives for one visit.
typedef struct rk_output {
  RK_GLOBAL rk_ring* ring;
  rk_bytes data;
  rk_u64 capacity;
  rk_u64 position; /* produced so far; published by rk_output_publish */
  rk_u64 consumer; /* last look at the consumer's position */
} rk_output;

/// 1 if a ring of `capacity` at `offset` lies in the arena and is well-formed.
RK_INLINE rk_u32 rk_ring_acceptable(rk_u64 offset, rk_u64 capacity, rk_u64 arena_bytes) {
  return capacity >= RK_RING_CAPACITY_MIN && capacity <= RK_RING_CAPACITY_MAX &&
         (capacity & (capacity - 1)) == 0 && (offset & (RK_LINE_BYTES - 1)) == 0 &&
         arena_bytes >= sizeof(rk_ring) + capacity &&
         offset <= arena_bytes - (sizeof(rk_ring) + capacity);
}

/// Bytes of a record with this payload.
RK_INLINE rk_u64 rk_record_bytes(rk_u64 payload_bytes) {
  return (sizeof(rk_record_header) + payload_bytes + (RK_RECORD_ALIGN - 1)) &
         ~(rk_u64)(RK_RECORD_ALIGN - 1);
}

RK_INLINE rk_input rk_input_open(rk_bytes arena, rk_u64 offset, rk_u64 capacity) {
  rk_input input;
  input.ring = (RK_GLOBAL rk_ring*)(arena + offset);
  input.data = arena + offset + sizeof(rk_ring);
  input.capacity = capacity;
  input.position = input.ring->consumer.position;
  input.producer = input.ring->consumer.cached_producer;
  return input;
}

/// The oldest record, or 0 if there is none. `*fault` becomes RK_FAULT_bad_record where the ring's
/// bytes make no sense; such a ring must not be read any further.
RK_INLINE RK_GLOBAL const rk_record_header* rk_input_front(rk_input* input, rk_u32* fault) {
  for (;;) {
    if (input->position == input->producer) {
      // acquire: the records below this position; pairs with the release in Producer::publish
      input->producer = rk_load_acquire_u64(&input->ring->producer.position);
      if (input->position == input->producer) return 0;
    }
    const rk_u64 index = input->position & (input->capacity - 1);
    RK_GLOBAL const rk_record_header* header =
        (RK_GLOBAL const rk_record_header*)(input->data + index);
    const rk_u64 length = header->length;
    if (length < sizeof(rk_record_header) || (length & (RK_RECORD_ALIGN - 1)) != 0 ||
        length > input->producer - input->position || length > input->capacity - index) {
      *fault = RK_FAULT_bad_record;
      return 0;
    }
    if (header->kind != RK_RECORD_PADDING) return header;
    input->position += length;
  }
}

/// Asks for the lines of the next record, all at once and before the host's position is looked at:
/// they lie in the host's cache, and one after the other each costs a trip there. The record is
/// taken to be as long as the last one; lines beyond it are only a hint gone astray.
RK_INLINE void rk_input_prefetch(const rk_input* input, rk_u64 last_record_bytes) {
  if (input->position != input->producer) return;
  const rk_u64 index = input->position & (input->capacity - 1);
  const rk_u64 bytes =
      last_record_bytes < RK_PREFETCH_BYTES ? last_record_bytes : RK_PREFETCH_BYTES;
  for (rk_u64 line = index; line < index + bytes && line < input->capacity; line += 64)
    rk_prefetch_read(input->data + line);
}

/// Passes over the record that rk_input_front gave. The host does not see it yet.
RK_INLINE void rk_input_pop(rk_input* input, rk_u64 length) { input->position += length; }

/// Gives everything passed over back to the host.
RK_INLINE void rk_input_release(rk_input* input) {
  input->ring->consumer.cached_producer = input->producer;
  // release: this side's reads are done; pairs with the acquire in Producer::try_claim
  rk_store_release_u64(&input->ring->consumer.position, input->position);
}

RK_INLINE rk_output rk_output_open(rk_bytes arena, rk_u64 offset, rk_u64 capacity) {
  rk_output output;
  output.ring = (RK_GLOBAL rk_ring*)(arena + offset);
  output.data = arena + offset + sizeof(rk_ring);
  output.capacity = capacity;
  output.position = output.ring->producer.position;
  output.consumer = output.ring->producer.cached_consumer;
  return output;
}

/// Space for a record with this payload, or 0 if the host has not released enough. Nothing is
/// visible before rk_output_publish. The record must fit: rk_record_bytes <= RK_RING_RECORD_MAX.
RK_INLINE RK_GLOBAL rk_record_header* rk_output_claim(rk_output* output, rk_u64 payload_bytes) {
  const rk_u64 length = rk_record_bytes(payload_bytes);
  const rk_u64 index = output->position & (output->capacity - 1);
  const rk_u64 to_end = output->capacity - index;
  const rk_u64 padding = length > to_end ? to_end : 0;
  if (output->capacity - (output->position - output->consumer) < padding + length) {
    // acquire: the host's reads of what it released; pairs with the release in Consumer::release
    output->consumer = rk_load_acquire_u64(&output->ring->consumer.position);
    output->ring->producer.cached_consumer = output->consumer;
    if (output->capacity - (output->position - output->consumer) < padding + length) return 0;
  }
  if (padding != 0) {
    RK_GLOBAL rk_record_header* pad = (RK_GLOBAL rk_record_header*)(output->data + index);
    pad->length = (rk_u32)padding;
    pad->kind = RK_RECORD_PADDING;
    output->position += padding;
  }
  RK_GLOBAL rk_record_header* header =
      (RK_GLOBAL rk_record_header*)(output->data + (output->position & (output->capacity - 1)));
  header->length = (rk_u32)length;
  return header;
}

/// Makes the claimed record, its header filled, visible to the host.
RK_INLINE void rk_output_publish(rk_output* output, rk_u64 length) {
  output->position += length;
  // release: the record's bytes; pairs with the acquire in Consumer::front
  rk_store_release_u64(&output->ring->producer.position, output->position);
  // The next reply will probably look like this one: its lines are fetched while nobody waits.
  const rk_u64 index = output->position & (output->capacity - 1);
  const rk_u64 bytes = length < RK_PREFETCH_BYTES ? length : RK_PREFETCH_BYTES;
  for (rk_u64 line = index; line < index + bytes && line < output->capacity; line += 64)
    rk_prefetch_write(output->data + line);
}

#endif
