/// A record, also in shared memory, that one writer replaces while any number of readers copy it.
/// There are two copies of it: the writer fills the one that nobody is sent to, then points readers
/// there. So a reader gets a whole record, also of a writer that was killed at any moment.
///
/// Threading: `store` by one thread at a time; `load` by any thread of any process.
/// Memory ordering: store's release of the number pairs with load's acquire. A copy that is being
/// overwritten while it is read is found out by the number: the writer is two stores ahead then.
/// Ownership: zeroed memory is an empty record that was never stored.
#pragma once

#include <array>
#include <atomic>
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

  /// False if the writer overtook every one of many tries: it stores without a pause.
  [[nodiscard]] bool load(Record& record) const noexcept {
    constexpr int tries_max = 1000;
    // Of memory that is mapped for reading only: nothing is stored through it.
    auto& self = const_cast<Sequenced&>(*this);
    for (int tries = 0; tries < tries_max; ++tries) {
      const std::uint64_t before = std::atomic_ref(self.number_).load(std::memory_order_acquire);
      Words copied;
      Words& from = self.copies_[before % 2];
      for (std::size_t i = 0; i < copied.size(); ++i)
        copied[i] = std::atomic_ref(from[i]).load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the fence in store
      if (std::atomic_ref(self.number_).load(std::memory_order_relaxed) != before) continue;
      // void: a record with default values is no trivial type, but trivially copied all the same
      std::memcpy(static_cast<void*>(&record), copied.data(), sizeof record);
      return true;
    }
    return false;
  }

 private:
  using Words = std::array<std::uint64_t, sizeof(Record) / sizeof(std::uint64_t)>;

  std::uint64_t number_;  // of the store that readers see
  std::array<Words, 2> copies_;
};

}  // namespace ringkernel
