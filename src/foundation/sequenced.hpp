/// A record, in memory or in a file, that one writer replaces while any number of readers copy it.
/// There are two copies of it: the writer fills the one that nobody is sent to, then points readers
/// there. So a reader gets a whole record, also of a writer that was killed at any moment.
///
/// In a file it is written and read by calls (`store_by`, `load_by`): who maps a file ends by
/// SIGBUS when somebody cuts it off.
///
/// Threading: `store` by one thread at a time; `load` by any thread of any process.
/// Memory ordering: store's release of the number pairs with load's acquire. A copy that is being
/// overwritten while it is read is found out by the number: the writer is two stores ahead then. Of
/// the number only the lowest bit chooses the copy, so a number of which some bytes are there
/// still names a whole one.
/// Ownership: zeroes are an empty record that was never stored.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ringkernel {

template <class Record>
class alignas(64) Sequenced {
  static_assert(std::is_trivially_copyable_v<Record> &&
                sizeof(Record) % sizeof(std::uint64_t) == 0);

 public:
  void store(const Record& record) noexcept {
    Words from;
    std::memcpy(from.data(), &record, sizeof record);
    const std::uint64_t next = number_ + 1;  // this thread's own
    Words& to = copies_[next % 2];
    // release: readers that find these words changing find the number of the store before, which
    // made this copy a stale one; pairs with the fence in load
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < from.size(); ++i)
      std::atomic_ref(to[i]).store(from[i], std::memory_order_relaxed);
    // release: the words; pairs with the acquire in load
    std::atomic_ref(number_).store(next, std::memory_order_release);
  }

  /// False if the writer overtook every one of many tries: it stores without a pause. Then `record`
  /// is anything.
  [[nodiscard]] bool load(Record& record) const noexcept {
    // Of memory that is mapped for reading only: nothing is stored through it.
    auto& self = const_cast<Sequenced&>(*this);
    for (int tries = 0; tries < tries_max; ++tries) {
      const std::uint64_t before = std::atomic_ref(self.number_).load(std::memory_order_acquire);
      Words& from = self.copies_[before % 2];
      // Word by word into the record itself: what was put together elsewhere would be copied in
      // larger pieces, and wait for these stores.
      for (std::size_t i = 0; i < from.size(); ++i) {
        const std::uint64_t word = std::atomic_ref(from[i]).load(std::memory_order_relaxed);
        std::memcpy(reinterpret_cast<std::byte*>(&record) + i * sizeof word, &word, sizeof word);
      }
      std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the fence in store
      if (std::atomic_ref(self.number_).load(std::memory_order_relaxed) == before) return true;
    }
    return false;
  }

  /// `number`: of the stores so far, which the writer keeps. `write(offset, from, bytes)`: false if
  /// it failed, with which the record stays what it was.
  template <class Write>
  [[nodiscard]] static bool store_by(std::uint64_t& number, const Record& record, Write&& write) {
    const std::uint64_t next = number + 1;
    // release: as in store; pairs with the second fence in load_by
    std::atomic_thread_fence(std::memory_order_release);
    if (!write(copy_at(next), &record, sizeof record)) return false;
    // release: the words; pairs with the first fence in load_by
    std::atomic_thread_fence(std::memory_order_release);
    if (!write(0, &next, sizeof next)) return false;
    number = next;
    return true;
  }

  /// `read(offset, to, bytes)`: false if there is nothing. False then, and as `load`.
  template <class Read>
  [[nodiscard]] static bool load_by(Record& record, Read&& read) {
    for (int tries = 0; tries < tries_max; ++tries) {
      std::uint64_t before = 0;
      std::uint64_t after = 0;
      if (!read(0, &before, sizeof before)) return false;
      std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the second one in store_by
      if (!read(copy_at(before), &record, sizeof record)) return false;
      std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the first one in store_by
      if (!read(0, &after, sizeof after)) return false;
      if (after == before) return true;
    }
    return false;
  }

 private:
  static constexpr int tries_max = 1000;

  static constexpr std::size_t copy_at(std::uint64_t number) noexcept {
    return sizeof(std::uint64_t) + number % 2 * sizeof(Record);
  }

  using Words = std::array<std::uint64_t, sizeof(Record) / sizeof(std::uint64_t)>;

  std::uint64_t number_;  // of the store that readers see
  std::array<Words, 2> copies_;
};

}  // namespace ringkernel
