/// What happened when, in the order in which it ended: messages whose times are taken, changes of
/// state, slices, swaps of programs. Kept until somebody takes it; when there are too many, events
/// are left out.
///
/// The queue has one writer and one reader at a time: writers take turns by a lock, and whoever
/// reads takes none, so that nobody leaves an event out because of it (decision 0031).
///
/// Threading: any thread; `note` waits for nobody, and rather leaves the event out. `take`: one
/// thread at a time.
/// Memory ordering: the queue's: an event is published by its writer and acquired by its reader.
/// `missed` is a figure.
/// Ownership: copies.
/// Units: nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/lockfree/spsc_queue.hpp>
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

  /// `make()` is the event; not called where it is left out.
  template <class Make>
  void note(Make&& make) {
    // relaxed: a few too many do no harm; pairs with the store in take
    if (noted_.load(std::memory_order_relaxed) >= notes_max) return leave_out();
    const std::unique_lock lock(writing_, std::try_to_lock);
    if (!lock.owns_lock()) return leave_out();
    noted_.fetch_add(1, std::memory_order_relaxed);
    add(make());
  }
  void keep(const TraceEvent& event) {
    const std::lock_guard lock(writing_);
    add(event);
  }

  /// All that was noted since the last time, in place of what is in `events`.
  void take(std::vector<TraceEvent>& events) {
    events.clear();
    events.reserve(capacity);  // so that what follows cannot throw
    noted_.store(0, std::memory_order_relaxed);
    const auto keep = [&](const TraceEvent& event) { events.push_back(event); };
    while (events.size() < capacity && events_.consume_one(keep)) continue;
  }

  /// Events that were left out so far.
  [[nodiscard]] std::uint64_t missed() const noexcept {
    return missed_.load(std::memory_order_relaxed);
  }

 private:
  void add(const TraceEvent& event) {
    if (!events_.push(event)) leave_out();
  }
  void leave_out() noexcept { missed_.fetch_add(1, std::memory_order_relaxed); }

  std::mutex writing_;  // one at a time
  boost::lockfree::spsc_queue<TraceEvent> events_{capacity};
  std::atomic<std::size_t> noted_{0};  // of these, by `note`
  std::atomic<std::uint64_t> missed_{0};
};

}  // namespace ringkernel
