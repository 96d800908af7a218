/// What became of the messages of each method of a ring kernel, by the selectors of the answers.
///
/// Threading: `add`: one thread at a time (KernelState's lock); `count` and `record`: whoever has
/// the channel's consume lock; metrics are read by any thread.
/// Memory ordering: an entry is published by the number of entries; metrics are relaxed.
/// Ownership: its entries, which stay where they are.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#include "bridge/atomic.hpp"
#include "foundation/histogram.hpp"

namespace ringkernel::bridge {

class MethodCounts {
 public:
  struct Entry {
    std::uint64_t answered;  ///< by the device
    std::uint64_t faults;    ///< of these, with an error
    Histogram latency;       ///< from the submission until the answer was found
    std::uint32_t selector;
  };

  /// Counts the answers with that selector from here on, if it did not. What finds no place is not
  /// counted by itself.
  void add(std::uint32_t selector) {
    const std::uint32_t count = count_.load(std::memory_order_relaxed);  // this thread's own
    if (count == entries_.size() || find(selector) != nullptr) return;
    // Zeroed memory, most of which is never touched and so never there.
    auto* const entry = static_cast<Entry*>(std::calloc(1, sizeof(Entry)));
    if (entry == nullptr) throw std::bad_alloc();
    entries_[count].reset(entry);  // calloc makes objects of trivial types
    entry->selector = selector;
    count_.store(count + 1, std::memory_order_release);  // the entry; pairs with visit and find
  }

  void count(std::uint32_t selector, bool is_fault) noexcept {
    Entry* const entry = find(selector);
    if (entry == nullptr) return;
    bump(entry->answered);
    if (is_fault) bump(entry->faults);
  }
  void record(std::uint32_t selector, std::uint64_t latency_ns) noexcept {
    if (Entry* const entry = find(selector)) entry->latency.record_alone(latency_ns);
  }

  /// `visit(entry)`, in the order of `add`.
  template <class Visit>
  void visit(Visit&& visit) const {
    const std::uint32_t count = count_.load(std::memory_order_acquire);  // pairs with add
    for (std::uint32_t i = 0; i < count; ++i) visit(static_cast<const Entry&>(*entries_[i]));
  }
  [[nodiscard]] static std::uint64_t load(const std::uint64_t& metric) noexcept {
    return atomic(const_cast<std::uint64_t&>(metric)).load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t methods_max = 64;  // of one behaviour

  [[nodiscard]] Entry* find(std::uint32_t selector) const noexcept {
    const std::uint32_t count = count_.load(std::memory_order_acquire);  // pairs with add
    for (std::uint32_t i = 0; i < count; ++i)
      if (entries_[i]->selector == selector) return entries_[i].get();
    return nullptr;
  }
  static void bump(std::uint64_t& metric) noexcept {
    atomic(metric).store(load(metric) + 1, std::memory_order_relaxed);  // one writer
  }

  struct Free {
    void operator()(Entry* entry) const noexcept { std::free(entry); }
  };
  std::array<std::unique_ptr<Entry, Free>, methods_max> entries_;
  std::atomic<std::uint32_t> count_{0};
};

static_assert(std::is_trivial_v<MethodCounts::Entry>);

}  // namespace ringkernel::bridge
