/// What happened when, in the order in which it ended: messages whose times are taken, changes of
/// state, slices, swaps of programs. Kept until somebody takes it; when there are too many, events
/// are left out.
///
/// Threading: any thread; `note` waits for nobody, and rather leaves the event out.
/// Memory ordering: a lock; `missed` is a figure.
/// Ownership: copies.
/// Units: nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

#include "ringkernel/limits.hpp"

namespace ringkernel {

enum class TraceKind : std::uint64_t { message = 1, state, slice, swap };

/// All zero: none.
struct TraceEvent {
  TraceKind kind;
  std::uint64_t id;  ///< message: its id; state: KernelStatus; slice: its number; swap: the version
  std::uint64_t selector;  ///< message: of its method, if its program has any
  std::uint64_t begin_ns;
  std::uint64_t entered_ns;             ///< message: there was room in the input ring
  std::uint64_t taken_ns;               ///< message: by the executor; 0: nobody knows
  std::uint64_t done_ns;                ///< message: answered by the executor; 0: nobody knows
  std::uint64_t replied_ns;             ///< message: the reply was found
  std::uint64_t end_ns;                 ///< state: as begin_ns; slice: it was found to have ended
  char name[kernel_id_length_max + 8];  ///< of the kernel; slice, swap: of the program; ends with 0

  [[nodiscard]] static TraceEvent of(TraceKind kind, std::uint64_t id, std::uint64_t begin_ns,
                                     std::uint64_t end_ns, std::string_view name) noexcept {
    TraceEvent event{};
    event.kind = kind;
    event.id = id;
    event.begin_ns = begin_ns;
    event.end_ns = end_ns;
    std::memcpy(event.name, name.data(), std::min(name.size(), sizeof event.name - 1));
    return event;
  }
};
static_assert(sizeof(TraceEvent) == 208);

class TraceLog {
 public:
  static constexpr std::size_t capacity = 4096;
  /// Of these, those that `note` may take: more would fall out of the caches, and fast traffic
  /// would leave no room for the rest.
  static constexpr std::size_t notes_max = 1024;

  TraceLog() { events_.reserve(capacity); }

  /// `make()` is the event; not called where it is left out.
  template <class Make>
  void note(Make&& make) {
    // relaxed: a few too many do no harm; pairs with the store in take
    if (noted_.load(std::memory_order_relaxed) >= notes_max) return leave_out();
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return leave_out();
    noted_.fetch_add(1, std::memory_order_relaxed);
    add(make());
  }
  void keep(const TraceEvent& event) {
    const std::lock_guard lock(mutex_);
    add(event);
  }

  /// All that was noted since the last time, in place of what is in `events`.
  void take(std::vector<TraceEvent>& events) {
    events.clear();
    events.reserve(capacity);  // so that nobody who notes something has to
    const std::lock_guard lock(mutex_);
    noted_.store(0, std::memory_order_relaxed);
    events_.swap(events);
  }

  /// Events that were left out so far.
  [[nodiscard]] std::uint64_t missed() const noexcept {
    return missed_.load(std::memory_order_relaxed);
  }

 private:
  void add(const TraceEvent& event) {
    if (events_.size() < capacity)
      events_.push_back(event);
    else
      leave_out();
  }
  void leave_out() noexcept { missed_.fetch_add(1, std::memory_order_relaxed); }

  std::mutex mutex_;  // guards events_
  std::vector<TraceEvent> events_;
  std::atomic<std::size_t> noted_{0};  // of these, by `note`
  std::atomic<std::uint64_t> missed_{0};
};

}  // namespace ringkernel
