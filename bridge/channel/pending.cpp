#include "bridge/channel/pending.hpp"

#include "foundation/assert.hpp"

namespace ringkernel::bridge {

Pending::Pending(std::uint32_t slot_count) : slots_(slot_count) {
  RK_ASSERT(slot_count > 0 && slot_count <= slots_max, "pending slots out of range");
}

std::uint32_t Pending::in_use() const noexcept {
  const std::uint32_t count = used_max_.load(std::memory_order_acquire);  // pairs with acquire()
  std::uint32_t used = 0;
  for (std::uint32_t index = 0; index < count; ++index)
    // acquire: what the last receiver noted (ReplyDemux::record_delivery); pairs with the release
    // in reset
    used += (slots_[index].word.load(std::memory_order_acquire) & 0xff) != free ? 1 : 0;
  return used;
}

bool Pending::sleep(MessageId id) noexcept {
  std::uint64_t expected = id >> 16 << 8 | armed_phase;
  return slot(id).word.compare_exchange_strong(expected, id >> 16 << 8 | sleeping,
                                               std::memory_order_acq_rel);
}

bool Pending::stay_awake(MessageId id) noexcept {
  std::uint64_t expected = id >> 16 << 8 | sleeping;
  return slot(id).word.compare_exchange_strong(expected, id >> 16 << 8 | armed_phase,
                                               std::memory_order_acq_rel);
}

}  // namespace ringkernel::bridge
