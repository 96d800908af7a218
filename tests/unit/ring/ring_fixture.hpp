/// What the ring tests share: a ring in its own memory, and the four ends behind one face.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "ring/consumer.hpp"
#include "ring/geometry.hpp"
#include "ring/producer.hpp"
#include "rk_device.h"
#include "rk_ring.h"

namespace ringkernel::test {

inline constexpr std::uint32_t ring_capacity = RK_RING_CAPACITY_MIN;
inline constexpr std::uint32_t ring_record_max = RK_RING_RECORD_MAX(ring_capacity);

/// Positions whose neighbourhood could go wrong. All have index 0, and the second lap crosses the
/// power of two.
inline constexpr std::array<std::uint64_t, 4> starts = {
    0, (std::uint64_t{1} << 32) - RK_RING_CAPACITY_MIN,
    (std::uint64_t{1} << 63) - RK_RING_CAPACITY_MIN, std::uint64_t{0} - RK_RING_CAPACITY_MIN};

/// A ring with memory of its own.
class OwnedRing {
 public:
  explicit OwnedRing(std::uint64_t position = 0, std::uint64_t capacity = RK_RING_CAPACITY_MIN)
      : memory_(static_cast<std::byte*>(
            ::operator new (ring_bytes(capacity), std::align_val_t{RK_LINE_BYTES}))),
        view_(RingView::at(memory_.get(), 0, capacity)) {
    std::memset(memory_.get(), 0xee, ring_bytes(capacity));
    view_.reset(position);
  }

  [[nodiscard]] const RingView& view() const { return view_; }
  [[nodiscard]] std::byte* memory() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const {
      ::operator delete (memory, std::align_val_t{RK_LINE_BYTES});
    }
  };
  std::unique_ptr<std::byte, Free> memory_;
  RingView view_;
};

/// A message of the tests: its payload is a pattern made from the id.
struct Message {
  std::uint64_t id = 0;
  std::uint32_t payload_bytes = 0;
  bool operator==(const Message&) const = default;
};

inline std::byte pattern(std::uint64_t id, std::uint32_t index) {
  return static_cast<std::byte>(id * 31 + index * 7 + 1);
}

inline void fill(rk_record_header* header, const Message& message) {
  const std::uint32_t length = header->length;  // the device's claim has set it
  *header = rk_record_header{};
  header->length = length;
  header->kind = RK_RECORD_REQUEST;
  header->correlation_id = message.id;
  header->payload_bytes = message.payload_bytes;
  auto* const payload = reinterpret_cast<std::byte*>(header + 1);
  for (std::uint32_t i = 0; i < message.payload_bytes; ++i) payload[i] = pattern(message.id, i);
}

/// The message in a record, or nothing where a payload byte is wrong.
inline std::optional<Message> parse(const rk_record_header& header) {
  const auto* const payload = reinterpret_cast<const std::byte*>(&header + 1);
  for (std::uint32_t i = 0; i < header.payload_bytes; ++i) {
    if (payload[i] != pattern(header.correlation_id, i)) return std::nullopt;
  }
  return Message{header.correlation_id, header.payload_bytes};
}

/// Each end: `push` claims, fills and publishes one record, false = no space; `flush` publishes
/// what an end that batches kept back; `pop` takes the front record without giving its space back,
/// nothing = empty (or, for a test to fail on, damaged).
struct HostProducerEnd {
  explicit HostProducerEnd(const OwnedRing& ring) : producer(ring.view()) {}
  bool push(const Message& message) {
    if (!commit(message)) return false;
    producer.publish();
    return true;
  }
  bool commit(const Message& message) {
    rk_record_header* const header = producer.try_claim(message.payload_bytes);
    if (header == nullptr) return false;
    fill(header, message);
    producer.commit();
    return true;
  }
  void flush() {}
  Producer producer;
};

/// Publishes where the ring is full and after every eighth message.
struct BatchingProducerEnd : HostProducerEnd {
  using HostProducerEnd::HostProducerEnd;
  bool push(const Message& message) {
    const bool committed = commit(message);
    if (!committed || message.id % 8 == 0) producer.publish();
    return committed;
  }
  void flush() { producer.publish(); }
};

struct HostConsumerEnd {
  explicit HostConsumerEnd(const OwnedRing& ring) : consumer(ring.view()) {}
  std::optional<Message> pop() {
    const rk_record_header* const header = consumer.front();
    if (header == nullptr) return std::nullopt;
    const std::optional<Message> message = parse(*header);
    consumer.pop();
    return message;
  }
  void release() { consumer.release(); }
  [[nodiscard]] bool broken() const { return consumer.corrupt(); }
  Consumer consumer;
};

struct DeviceProducerEnd {
  explicit DeviceProducerEnd(const OwnedRing& ring)
      : output(rk_output_open(reinterpret_cast<rk_bytes>(ring.memory()), 0, ring.view().capacity)) {
  }
  bool push(const Message& message) {
    rk_record_header* const header = rk_output_claim(&output, message.payload_bytes);
    if (header == nullptr) return false;
    fill(header, message);
    rk_output_publish(&output, header->length);
    return true;
  }
  void flush() {}
  rk_output output;
};

struct DeviceConsumerEnd {
  explicit DeviceConsumerEnd(const OwnedRing& ring)
      : input(rk_input_open(reinterpret_cast<rk_bytes>(ring.memory()), 0, ring.view().capacity)) {}
  std::optional<Message> pop() {
    const rk_record_header* const header = rk_input_front(&input, &fault);
    if (header == nullptr) return std::nullopt;
    const std::optional<Message> message = parse(*header);
    rk_input_pop(&input, header->length);
    return message;
  }
  void release() { rk_input_release(&input); }
  [[nodiscard]] bool broken() const { return fault == RK_FAULT_bad_record; }
  rk_input input;
  rk_u32 fault = RK_FAULT_NONE;
};

}  // namespace ringkernel::test
