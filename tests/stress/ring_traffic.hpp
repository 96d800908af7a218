/// Two threads, one small ring: the smallest capacity, so that full, empty, wrap and padding happen
/// all the time, and every payload byte checked. Shared by the stress test and its mutants.
///
/// Memory ordering: nothing here orders one thread behind the other except the ring itself; the
/// `abandoned` flag is relaxed for that reason.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "unit/ring/ring_fixture.hpp"

namespace ringkernel::test {

/// The message with this number: mostly short, now and then the longest that the ring takes.
inline Message numbered_message(std::uint64_t number) {
  constexpr std::uint32_t payload_max =
      RK_RING_RECORD_MAX(RK_RING_CAPACITY_MIN) - sizeof(rk_record_header);
  const auto mixed = static_cast<std::uint32_t>((number * 0x9e3779b97f4a7c15U) >> 40);
  const std::uint32_t bytes = number % 64 == 63 ? payload_max : mixed % 320;
  return {number, bytes};
}

/// Sends `count` messages through a ring that starts at `position`. Gives what the consumer found
/// wrong first; empty = every message came once, in order and intact.
template <class ProducerEnd, class ConsumerEnd>
std::string run_traffic(std::uint64_t count, std::uint64_t position) {
  const OwnedRing ring(position);
  ProducerEnd producer(ring);
  ConsumerEnd consumer(ring);
  std::atomic<bool> abandoned = false;

  std::jthread sender([&] {
    for (std::uint64_t number = 0; number < count; ++number) {
      while (!producer.push(numbered_message(number))) {
        if (abandoned.load(std::memory_order_relaxed)) return;
        std::this_thread::yield();
      }
    }
    producer.flush();
  });

  std::string failure;
  for (std::uint64_t number = 0; number < count && failure.empty();) {
    const std::optional<Message> message = consumer.pop();
    if (message == numbered_message(number)) {
      ++number;
      // In batches of one to five records: the producer meets every fill level.
      if (number % 5 == 0 || number % 7 == 0) consumer.release();
    } else if (consumer.broken()) {
      failure = "corrupt ring at message " + std::to_string(number);
    } else if (message.has_value()) {
      failure = "wrong message instead of " + std::to_string(number);
    } else {
      consumer.release();
      std::this_thread::yield();
    }
  }
  abandoned.store(true, std::memory_order_relaxed);
  return failure;
}

}  // namespace ringkernel::test
