#include "ring/inspect.hpp"

#include <algorithm>
#include <atomic>
#include <string_view>

namespace ringkernel {
namespace {

std::string kind_text(std::uint16_t kind) {
  switch (kind) {
    case RK_RECORD_NONE: return "none";
    case RK_RECORD_PADDING: return "padding";
    case RK_RECORD_REQUEST: return "request";
    case RK_RECORD_REPLY: return "reply";
    default: return "kind " + std::to_string(kind);
  }
}

}  // namespace

RingUse use_of(const RingView& ring) noexcept {
  // acquire: what the consumer has released was published before, so the producer's position is
  // not less; pairs with Consumer::release and rk_input_release
  const std::uint64_t consumer =
      std::atomic_ref(ring.lines->consumer.position).load(std::memory_order_acquire);
  const std::uint64_t producer =
      std::atomic_ref(ring.lines->producer.position).load(std::memory_order_relaxed);
  return {producer, std::min(producer - consumer, ring.capacity)};
}

RingPicture inspect(const RingView& ring) {
  RingPicture picture;
  picture.capacity = ring.capacity;
  // acquire: pairs with Producer::publish and Consumer::release, so that a quiet ring's records
  // are whole.
  picture.consumer_position =
      std::atomic_ref(ring.lines->consumer.position).load(std::memory_order_acquire);
  picture.producer_position =
      std::atomic_ref(ring.lines->producer.position).load(std::memory_order_acquire);
  std::uint64_t position = picture.consumer_position;
  while (position != picture.producer_position) {
    const rk_record_header header = *ring.record(position);
    picture.records.push_back({position, header});
    if (!ring.can_hold(position, picture.producer_position, header.length)) {
      picture.corrupt = true;
      return picture;
    }
    position += header.length;
  }
  return picture;
}

std::string to_text(const RingPicture& picture) {
  std::string text = "ring of " + std::to_string(picture.capacity) + " bytes: producer " +
                     std::to_string(picture.producer_position) + ", consumer " +
                     std::to_string(picture.consumer_position) +
                     (picture.corrupt ? ", corrupt\n" : "\n");
  for (const RecordInfo& record : picture.records) {
    text += "  " + std::to_string(record.position) + ": " + kind_text(record.header.kind) + ", " +
            std::to_string(record.header.length) + " bytes";
    if (record.header.kind != RK_RECORD_PADDING) {
      text += ", payload " + std::to_string(record.header.payload_bytes) + ", correlation " +
              std::to_string(record.header.correlation_id);
    }
    if (record.header.fault != 0) text += ", fault " + std::to_string(record.header.fault);
    text += '\n';
  }
  return text;
}

}  // namespace ringkernel
