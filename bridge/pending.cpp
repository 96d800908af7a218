#include "bridge/pending.hpp"

#include "foundation/assert.hpp"

namespace ringkernel::bridge {

Pending::Pending(std::uint32_t slot_count) : slots_(slot_count), free_(slot_count) {
  RK_ASSERT(slot_count > 0 && slot_count <= slots_max, "pending slots out of range");
}

std::optional<MessageId> Pending::acquire(Receiver receiver, std::uint64_t deadline_ns,
                                          Completion* completion, bool assisted) {
  const auto index = take_index();
  if (!index) return std::nullopt;
  return arm(*index, receiver, deadline_ns, completion, assisted);
}

std::optional<std::uint32_t> Pending::take_index() {
  std::uint32_t index = 0;
  if (free_.pop(index)) return index;
  // A slot that was never used. relaxed: the caller is the only thread that writes the count.
  index = used_max_.load(std::memory_order_relaxed);
  if (index == slots_.size()) return std::nullopt;
  // release: pairs with the acquire in for_each_armed and in_use
  used_max_.store(index + 1, std::memory_order_release);
  return index;
}

MessageId Pending::arm(std::uint32_t index, Receiver receiver, std::uint64_t deadline_ns,
                       Completion* completion, bool assisted) noexcept {
  Slot& slot = slots_[index];
  slot.receiver.store(receiver, std::memory_order_relaxed);  // published by the word below
  slot.deadline_ns.store(deadline_ns, std::memory_order_relaxed);
  slot.assisted.store(assisted, std::memory_order_relaxed);
  slot.completion = completion;
  slot.assisted.store(assisted, std::memory_order_relaxed);
  const std::uint64_t generation = (slot.word.load(std::memory_order_relaxed) >> 8) + 1;
  // release: the slot's fields; pairs with the acquire in claim and for_each_armed
  slot.word.store(generation << 8 | armed_phase, std::memory_order_release);
  return generation << 16 | index;
}

Slot* Pending::claim(MessageId id, bool* asleep) noexcept {
  const std::uint64_t index = id & 0xffff;
  if (index >= slots_.size()) return nullptr;
  Slot& slot = slots_[index];
  const std::uint64_t generation = id >> 16 << 8;
  // relaxed: the CAS below decides and acquires
  std::uint64_t word = slot.word.load(std::memory_order_relaxed);
  do {
    if (word != (generation | armed_phase) && word != (generation | sleeping)) return nullptr;
    *asleep = word == (generation | sleeping);
    // acquire: the fields written by acquire(); the CAS makes one winner
  } while (!slot.word.compare_exchange_weak(word, generation | claimed, std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
  return &slot;
}

void Pending::finish(Slot& slot, bool asleep) noexcept {
  const std::uint64_t generation = slot.word.load(std::memory_order_relaxed) & ~std::uint64_t{0xff};
  // release: the outcome; pairs with the acquire in done
  slot.word.store(generation | done_phase, std::memory_order_release);
  if (asleep) slot.wake_up.release();
}

void Pending::release(Slot& slot) noexcept {
  const std::uint64_t generation = slot.word.load(std::memory_order_relaxed) & ~std::uint64_t{0xff};
  slot.outcome.payload = MessageBuffer();
  slot.outcome.detail.clear();
  slot.word.store(generation | free,
                  std::memory_order_release);  // the free list publishes the rest
  free_.bounded_push(static_cast<std::uint32_t>(&slot - slots_.data()));
}

std::uint32_t Pending::in_use() const noexcept {
  const std::uint32_t count = used_max_.load(std::memory_order_acquire);  // pairs with acquire()
  std::uint32_t used = 0;
  for (std::uint32_t index = 0; index < count; ++index)
    used += (slots_[index].word.load(std::memory_order_relaxed) & 0xff) != free ? 1 : 0;
  return used;
}

bool Pending::done(MessageId id) const noexcept {
  // acquire: the outcome; pairs with the release in finish
  return slots_[id & 0xffff].word.load(std::memory_order_acquire) == (id >> 16 << 8 | done_phase);
}

bool Pending::armed(MessageId id) const noexcept {
  const std::uint64_t word = slots_[id & 0xffff].word.load(std::memory_order_acquire);
  const std::uint64_t generation = id >> 16 << 8;
  return word == (generation | armed_phase) || word == (generation | sleeping);
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
