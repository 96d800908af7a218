/// The messages of one channel that were accepted and not yet answered: a fixed table of slots.
///
/// The id of a message is `generation << 16 | slot index`, so that the reply to a message that was
/// given up finds a slot of another generation and is counted as late, never delivered to a
/// stranger.
///
///     free --acquire--> armed --claim--> claimed --(result written)--> done --release--> free
///                         \--sleep--> sleeping --claim--> claimed
///
/// Exactly one thread wins `claim`: the demultiplexer with the reply, the deadline, a cancellation,
/// or the end of the kernel.
///
/// Threading: any thread; each function says what it needs.
/// Memory ordering: `word` carries the slot: every transition that hands data over is acq_rel.
/// Ownership: the table owns the slots; a `Completion` is borrowed until it is called, a
/// `ReplyPlace` until the outcome is there.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <semaphore>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bridge/channel/latencies.hpp"
#include "ringkernel/limits.hpp"
#include "ringkernel/message_buffer.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::bridge {

/// How one message ended.
struct Outcome {
  MessageId id = 0;
  error_code error;    ///< none: `payload` is the reply
  std::string detail;  ///< says more about `error`; may be empty
  std::uint64_t fault_detail = 0;
  std::uint32_t fault_code = 0;  ///< of handler_fault: the handler's own
  std::uint32_t selector = 0;    ///< what the message asked for
  std::uint16_t version = 0;     ///< of the program that answered
  MessageBuffer payload;
};

/// Where a waiter wants a reply of which it knows all but the data: instead of a payload.
struct ReplyPlace {
  /// Some of the data, `offset` bytes from its beginning.
  struct Part {
    std::uint64_t offset = 0;
    void* to = nullptr;
    std::uint64_t bytes = 0;
  };

  std::span<const std::byte> prefix;  ///< what such a reply begins with
  std::uint64_t reply_bytes = 0;      ///< prefix and data
  std::span<const Part> parts;
  bool is_taken = false;  ///< the reply came, and its data are where they belong

  /// False: this is another reply.
  bool take(std::span<const std::byte> reply) noexcept {
    is_taken =
        reply.size() == reply_bytes && std::memcmp(reply.data(), prefix.data(), prefix.size()) == 0;
    if (!is_taken) return false;
    for (const Part& part : parts)
      std::memcpy(part.to, reply.data() + prefix.size() + part.offset, part.bytes);
    return true;
  }
};

/// Somebody who waits for an outcome without a thread. Called exactly once, from any thread,
/// possibly with the channel's consume lock held: must not block and must not call the channel.
class Completion {
 public:
  virtual void complete(Outcome outcome) noexcept = 0;

 protected:
  ~Completion() = default;
};

/// Who gets the outcome of a message.
enum class Receiver : std::uint8_t {
  waiter,      ///< a thread in Channel::wait
  completion,  ///< Slot::completion
  mailbox,     ///< whoever calls receive
};

struct alignas(64) Slot {
  std::atomic<std::uint64_t> word{0};  // generation << 8 | phase
  // Atomic because a scan for deadlines may look while the slot changes hands; it acts on what it
  // saw only after it has won the claim of that generation.
  std::atomic<std::uint64_t> deadline_ns{0};
  std::atomic<Receiver> receiver{Receiver::waiter};
  std::atomic<bool> assisted{false};          // in BridgeDemand::assisted; who takes it, uncounts
  std::atomic<std::uint64_t> accepted_ns{0};  // Stamp; atomic for a look at what is in flight
  // Of a message whose times are taken: when it found room in the ring, else 0. Stored under the
  // channel's send lock, as slots are armed; atomic because its outcome may come at that moment.
  std::atomic<std::uint64_t> entered_ns{0};
  std::uint64_t taken_ns = 0;    // by the executor, and answered; 0: nobody knows
  std::uint64_t done_ns = 0;     //
  std::uint64_t replied_ns = 0;  // its reply was found; 0: its times are not taken
  std::uint32_t next_free = 0;   // while it is free
  Completion* completion = nullptr;
  ReplyPlace* reply_place = nullptr;     // the waiter's; null: a payload of the outcome
  std::atomic<std::uint64_t> number{0};  // of the message, counted as they are accepted
  std::binary_semaphore wake_up{0};
  Outcome outcome;
};

class Pending {
 public:
  /// Most slots of one table: an index is 16 bits wide, and the free list uses one value for
  /// itself.
  static constexpr std::uint32_t slots_max = 32768;

  explicit Pending(std::uint32_t slot_count);

  /// A slot for a message that is about to become visible; nullopt if all are taken. One thread at
  /// a time (the channel's send lock).
  [[nodiscard]] std::optional<MessageId> acquire(Receiver receiver, std::uint64_t deadline_ns,
                                                 Completion* completion, bool assisted = false,
                                                 Stamp stamp = {}, ReplyPlace* place = nullptr);

  /// The two halves of `acquire`, for a batch that first takes its slots and then fills them: the
  /// index of a slot that is the caller's, and the message's id in it. An unused index is given
  /// back. All three one thread at a time, as `acquire`.
  [[nodiscard]] std::optional<std::uint32_t> take_index();
  [[nodiscard]] MessageId arm(std::uint32_t index, Receiver receiver, std::uint64_t deadline_ns,
                              Completion* completion, bool assisted = false, Stamp stamp = {},
                              ReplyPlace* place = nullptr) noexcept;
  void give_back(std::uint32_t index) noexcept { give_back(index, index); }

  /// Whether `acquire` would find a slot; holds until the next `acquire`.
  [[nodiscard]] bool available() const noexcept {
    return taken_ != no_slot || free_.load(std::memory_order_relaxed) != no_slot ||
           used_max_.load(std::memory_order_relaxed) < slots_.size();
  }

  /// Wins the slot for the caller, who writes `outcome` and calls `finish`. nullptr: the message
  /// has its outcome already. `*asleep` tells whether the waiter has to be woken.
  [[nodiscard]] Slot* claim(MessageId id, bool* asleep) noexcept;

  /// After `claim` of a waiter's slot: the outcome is complete. The waiter takes it and releases.
  void finish(Slot& slot, bool asleep) noexcept;

  /// Gives the slot back. The caller has claimed it, or is its waiter after `done`.
  void release(Slot& slot) noexcept;

  /// Slots to be given back together, with one exchange of the list's head.
  class Chain {
   public:
    explicit Chain(Pending& pending) noexcept : pending_(pending) {}
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;
    ~Chain() {
      if (first_ != no_slot) pending_.give_back(first_, last_);
    }
    /// As Pending::release.
    void release(Slot& slot) noexcept {
      const std::uint32_t index = pending_.reset(slot);
      slot.next_free = first_;
      if (first_ == no_slot) last_ = index;
      first_ = index;
    }

   private:
    Pending& pending_;
    std::uint32_t first_ = no_slot;
    std::uint32_t last_ = no_slot;
  };

  /// The slot of an id, whatever its generation.
  [[nodiscard]] Slot& slot(MessageId id) noexcept { return slots_[id & 0xffff]; }

  /// Waiter only: whether the outcome is there.
  [[nodiscard]] bool done(MessageId id) const noexcept;
  /// Whether the message still waits for its outcome.
  [[nodiscard]] bool armed(MessageId id) const noexcept;
  /// Waiter only: announces that it will sleep. False if the outcome is (nearly) there.
  [[nodiscard]] bool sleep(MessageId id) noexcept;
  /// Waiter only, after sleeping in vain: takes the announcement back. False if somebody has
  /// claimed the slot: `wake_up` is about to be released, and the waiter must take that token.
  [[nodiscard]] bool stay_awake(MessageId id) noexcept;

  /// Calls `visit(id, slot)` for every slot that is armed at that moment.
  template <class Visit>
  void for_each_armed(Visit&& visit);
  /// Of these, the ids of those that `wanted(slot)` takes, in the order in which they were armed.
  template <class Wanted>
  [[nodiscard]] std::vector<MessageId> armed_in_order(Wanted&& wanted);

  /// Slots in use, whatever their phase. Looks at all of them: not for a hot path.
  [[nodiscard]] std::uint32_t in_use() const noexcept;
  [[nodiscard]] std::uint32_t capacity() const noexcept {
    return static_cast<std::uint32_t>(slots_.size());
  }

 private:
  enum Phase : std::uint64_t {
    free = 0,
    armed_phase = 1,
    sleeping = 2,
    claimed = 3,
    done_phase = 4
  };

  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};

  /// Ends what the slot was used for. Its index.
  std::uint32_t reset(Slot& slot) noexcept;
  /// The slots from `first` on, each naming the next, up to `last`.
  void give_back(std::uint32_t first, std::uint32_t last) noexcept;

  std::vector<Slot> slots_;
  // Free slots, each naming the next: pushed by anybody, taken as a whole by the one thread that
  // acquires, so that no index can come back behind a compare-and-swap's back.
  std::atomic<std::uint32_t> free_{no_slot};
  std::uint32_t taken_ = no_slot;           // what is left of the last list; acquire's own
  std::uint64_t armed_ = 0;                 // messages so far; acquire's own
  std::atomic<std::uint32_t> used_max_{0};  // slots at and above were never taken
};

// What every message passes through: inline, because each does hardly more than a function call.

inline std::optional<MessageId> Pending::acquire(Receiver receiver, std::uint64_t deadline_ns,
                                                 Completion* completion, bool assisted, Stamp stamp,
                                                 ReplyPlace* place) {
  const auto index = take_index();
  if (!index) return std::nullopt;
  return arm(*index, receiver, deadline_ns, completion, assisted, stamp, place);
}

inline std::optional<std::uint32_t> Pending::take_index() {
  // acquire: the slots' `next_free`; pairs with the release in give_back
  if (taken_ == no_slot && free_.load(std::memory_order_relaxed) != no_slot)
    taken_ = free_.exchange(no_slot, std::memory_order_acquire);
  if (taken_ != no_slot) return std::exchange(taken_, slots_[taken_].next_free);
  // A slot that was never used. relaxed: the caller is the only thread that writes the count.
  const std::uint32_t index = used_max_.load(std::memory_order_relaxed);
  if (index == slots_.size()) return std::nullopt;
  // release: pairs with the acquire in for_each_armed and in_use
  used_max_.store(index + 1, std::memory_order_release);
  return index;
}

inline MessageId Pending::arm(std::uint32_t index, Receiver receiver, std::uint64_t deadline_ns,
                              Completion* completion, bool assisted, Stamp stamp,
                              ReplyPlace* place) noexcept {
  Slot& slot = slots_[index];
  slot.receiver.store(receiver, std::memory_order_relaxed);  // published by the word below
  slot.deadline_ns.store(deadline_ns, std::memory_order_relaxed);
  slot.assisted.store(assisted, std::memory_order_relaxed);
  slot.entered_ns.store(stamp.sampled_ns, std::memory_order_relaxed);
  slot.accepted_ns.store(stamp.accepted_ns, std::memory_order_relaxed);
  slot.number.store(++armed_, std::memory_order_relaxed);
  slot.replied_ns = 0;
  slot.completion = completion;
  slot.reply_place = place;
  const std::uint64_t generation = (slot.word.load(std::memory_order_relaxed) >> 8) + 1;
  // release: the slot's fields; pairs with the acquire in claim and for_each_armed
  slot.word.store(generation << 8 | armed_phase, std::memory_order_release);
  return generation << 16 | index;
}

inline Slot* Pending::claim(MessageId id, bool* asleep) noexcept {
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

inline void Pending::finish(Slot& slot, bool asleep) noexcept {
  const std::uint64_t generation = slot.word.load(std::memory_order_relaxed) & ~std::uint64_t{0xff};
  // release: the outcome; pairs with the acquire in done
  slot.word.store(generation | done_phase, std::memory_order_release);
  if (asleep) slot.wake_up.release();
}

inline std::uint32_t Pending::reset(Slot& slot) noexcept {
  const std::uint64_t generation = slot.word.load(std::memory_order_relaxed) & ~std::uint64_t{0xff};
  slot.outcome.payload = MessageBuffer();
  slot.outcome.detail.clear();
  slot.word.store(generation | free,
                  std::memory_order_release);  // the free list publishes the rest
  return static_cast<std::uint32_t>(&slot - slots_.data());
}

inline void Pending::release(Slot& slot) noexcept { give_back(reset(slot)); }

inline void Pending::give_back(std::uint32_t first, std::uint32_t last) noexcept {
  std::uint32_t head = free_.load(std::memory_order_relaxed);  // the CAS decides
  do {
    slots_[last].next_free = head;
    // release: the slots; pairs with the exchange in take_index
  } while (!free_.compare_exchange_weak(head, first, std::memory_order_release,
                                        std::memory_order_relaxed));
}

inline bool Pending::done(MessageId id) const noexcept {
  // acquire: the outcome; pairs with the release in finish
  return slots_[id & 0xffff].word.load(std::memory_order_acquire) == (id >> 16 << 8 | done_phase);
}

inline bool Pending::armed(MessageId id) const noexcept {
  const std::uint64_t word = slots_[id & 0xffff].word.load(std::memory_order_acquire);
  const std::uint64_t generation = id >> 16 << 8;
  return word == (generation | armed_phase) || word == (generation | sleeping);
}

template <class Visit>
void Pending::for_each_armed(Visit&& visit) {
  const std::uint32_t count = used_max_.load(std::memory_order_acquire);  // pairs with acquire()
  for (std::uint32_t index = 0; index < count; ++index) {
    const std::uint64_t word = slots_[index].word.load(std::memory_order_acquire);
    const std::uint64_t phase = word & 0xff;
    if (phase == armed_phase || phase == sleeping) visit((word >> 8) << 16 | index, slots_[index]);
  }
}

template <class Wanted>
std::vector<MessageId> Pending::armed_in_order(Wanted&& wanted) {
  std::vector<std::pair<std::uint64_t, MessageId>> found;
  for_each_armed([&](MessageId id, Slot& slot) {
    // relaxed: of a slot that is armed anew meanwhile; whoever ends its message finds another id
    if (wanted(slot)) found.emplace_back(slot.number.load(std::memory_order_relaxed), id);
  });
  std::ranges::sort(found);
  std::vector<MessageId> ids;
  ids.reserve(found.size());
  for (const auto& [number, id] : found) ids.push_back(id);
  return ids;
}

}  // namespace ringkernel::bridge
