/// What happened when, in the order in which it ended: messages whose times are taken, changes of
/// state, slices. Kept until somebody takes it; when it is full, events are left out.
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

enum class TraceKind : std::uint64_t { message = 1, state, slice };

/// All zero: none.
struct TraceEvent {
  TraceKind kind;
  std::uint64_t id;  ///< message: its id; state: KernelStatus; slice: its number
  std::uint64_t begin_ns;
  std::uint64_t entered_ns;              ///< message: there was room in the input ring
  std::uint64_t replied_ns;              ///< message: the reply was found
  std::uint64_t end_ns;                  ///< state: as begin_ns; slice: it was found to have ended
  char name[kernel_id_length_max + 16];  ///< of the kernel; slice: of its program; ends with a zero

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
static_assert(sizeof(TraceEvent) == 192);

class TraceLog {
 public:
  static constexpr std::size_t capacity = 4096;

  TraceLog() { events_.reserve(capacity); }

  void note(const TraceEvent& event) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    add(event, lock.owns_lock());
  }
  void keep(const TraceEvent& event) {
    const std::lock_guard lock(mutex_);
    add(event, true);
  }

  /// All that was noted since the last time, in place of what is in `events`.
  void take(std::vector<TraceEvent>& events) {
    events.clear();
    events.reserve(capacity);  // so that nobody who notes something has to
    const std::lock_guard lock(mutex_);
    events_.swap(events);
  }

  /// Events that were left out so far.
  [[nodiscard]] std::uint64_t missed() const noexcept {
    return missed_.load(std::memory_order_relaxed);
  }

 private:
  void add(const TraceEvent& event, bool is_mine) {
    if (is_mine && events_.size() < capacity)
      events_.push_back(event);
    else
      missed_.fetch_add(1, std::memory_order_relaxed);
  }

  std::mutex mutex_;  // guards events_
  std::vector<TraceEvent> events_;
  std::atomic<std::uint64_t> missed_{0};
};

}  // namespace ringkernel
