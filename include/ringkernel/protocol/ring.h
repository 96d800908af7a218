/// A byte ring with one producer and one consumer, as it lies in the arena.
///
///     0          128        256                       256 + capacity
///     +----------+----------+-------------------------+
///     | producer | consumer | data (power of two)     |
///     +----------+----------+-------------------------+
///
/// A *position* counts bytes ever produced or consumed, is monotonic and never wraps
/// (2^63 bytes at 100 GB/s last 2.9 years, and unsigned arithmetic stays right beyond); an
/// *index* into the data is `position & (capacity - 1)`.
/// Empty: producer == consumer.  Full: producer - consumer == capacity.  Records: record.h.
#ifndef RINGKERNEL_PROTOCOL_RING_H
#define RINGKERNEL_PROTOCOL_RING_H

#include "ringkernel/protocol/abi.h"

#define RK_RING_CAPACITY_MIN 4096u
#define RK_RING_CAPACITY_MAX 0x40000000u

/// The longest record is half the capacity: a record that does not fit before the end needs
/// padding shorter than itself, so padding + record <= capacity and an empty ring takes it.
#define RK_RING_RECORD_MAX(capacity) ((capacity) / 2u)

/// Written by: the producer.  Read by: the consumer (`position` only).
typedef struct rk_producer_line {
  rk_u64 position;        /* bytes published; release, pairs with the consumer's acquire */
  rk_u64 cached_consumer; /* the producer's last look at the consumer's position; its own note */
  rk_u64 reserved[14];    /* zero */
} rk_producer_line;

/// Written by: the consumer.  Read by: the producer (`position` only).
typedef struct rk_consumer_line {
  rk_u64 position;        /* bytes released; release, pairs with the producer's acquire */
  rk_u64 cached_producer; /* the consumer's last look at the producer's position; its own note */
  rk_u64 reserved[14];    /* zero */
} rk_consumer_line;

/// Two lines, each with its own writer; `capacity` bytes of data follow.
typedef struct rk_ring {
  rk_producer_line producer;
  rk_consumer_line consumer;
} rk_ring;

#endif
