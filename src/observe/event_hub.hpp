/// Hands events to those who listen. Who is slow misses some; nobody waits for him.
///
/// Threading: any thread, with any lock held. A listener is told by one thread at a time.
/// Memory ordering: `count_` says whether anybody may be there; relaxed: who subscribes while
/// something happens may miss it.
/// Ownership: a listener is somebody else's; the hub looks whether it is still there. Where it is
/// the last who has one it lets it go without its lock, unless there is no memory for that.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "async/finish.hpp"
#include "foundation/fork.hpp"
#include "foundation/timeout.hpp"
#include "ringkernel/events.hpp"

namespace ringkernel::detail {

/// Called with the hub's lock.
class EventListener {
 public:
  virtual void push(const Event& event) noexcept = 0;
  /// There was no memory to say what happened.
  virtual void miss() noexcept = 0;
  /// No events will come any more.
  virtual void close() noexcept = 0;

 protected:
  ~EventListener() = default;
};

/// Of a stream: its subscriber takes the events when he wants to.
class EventQueue final : public EventListener, public std::enable_shared_from_this<EventQueue> {
 public:
  explicit EventQueue(const EventOptions& options)
      : repeat_ns_(bounded_ns(options.repeat_period)) {}
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue();

  /// Without memory the event is one that was missed.
  void push(const Event& event) noexcept override;
  void miss() noexcept override;
  void close() noexcept override;
  void start_next(Handler<Event> handler);

 private:
  /// Errors of one kernel with one code.
  struct Kind {
    std::uint64_t told_ns = 0;
    std::uint64_t left_out = 0;
    Event last;  // of those left out
  };

  /// Whether an error like this one was told lately; then it is counted. Lock held, as for these:
  bool leave_out(Event& event);
  void put(Event event);
  void cancel(std::uint64_t number) noexcept;
  /// Of the operation that waits; with the lock held.
  void end(error_code error, Event event) noexcept;

  const ForkMark mark_;
  std::mutex mutex_;  // guards what follows
  const std::uint64_t repeat_ns_;
  std::map<std::pair<std::string, int>, Kind> kinds_;  // at most errors_max
  std::deque<Event> events_;
  std::uint64_t missed_ = 0;  // since the last one in events_
  bool closed_ = false;
  std::uint64_t number_ = 0;  // of the operation that waits, or did last
  std::optional<Finish<Event>> waiting_;
};

class EventHub {
 public:
  /// Events from here on.
  [[nodiscard]] std::shared_ptr<EventQueue> subscribe(const EventOptions& options);
  void add(const std::shared_ptr<EventListener>& listener);
  [[nodiscard]] bool has_listeners() const noexcept {
    return count_.load(std::memory_order_relaxed) != 0;
  }
  void emit(const Event& event) noexcept;
  /// There was no memory to say what happened.
  void miss() noexcept;
  /// The listeners' end, too: nobody is told anything behind it.
  void close() noexcept;

 private:
  using Held = std::vector<std::shared_ptr<EventListener>>;
  /// With the lock: `tell` for each that is there. `held` has them then, and goes behind the lock.
  template <class Tell>
  void tell_all(Held& held, Tell&& tell) noexcept;

  std::mutex mutex_;  // guards what follows; before a listener's
  std::vector<std::weak_ptr<EventListener>> listeners_;
  bool closed_ = false;
  std::atomic<std::size_t> count_{0};
};

}  // namespace ringkernel::detail
