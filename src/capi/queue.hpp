/// Calls of C callers that are under way, and how they end.
///
/// Threading: any thread. Handlers run, results are written and cancellations are told by one
/// thread at a time, which has the lock: so a cancellation finds a handler that waits, or none.
/// Memory ordering: what is shared is guarded by the mutex, which comes before all locks of the
/// library but is not held while a call is begun or waited for.
/// Ownership: `queue_` owns the handlers, which point to this object and share their `Underway`.
#pragma once

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"
#include "ringkernel/as_result.hpp"
#include "ringkernel/completion_queue.hpp"
#include "ringkernel/ringkernel_async.h"

namespace ringkernel::capi {

class QueueObject {
 public:
  /// How a call ended: `error` is empty where all went well.
  struct Ended {
    std::uint64_t tag = 0;
    Error error;
  };

  [[nodiscard]] static Result<std::shared_ptr<QueueObject>> open();
  explicit QueueObject(std::unique_ptr<CompletionQueue> queue) noexcept
      : queue_(std::move(queue)) {}

  [[nodiscard]] int descriptor() const noexcept { return queue_->descriptor(); }

  /// `start(token)` initiates an operation whose result is a Result<T>; `write(T&&)`, a
  /// Result<void>, takes that to the caller's memory.
  template <class T, class Start, class Write>
  void begin(std::uint64_t tag, Start&& start, Write write);

  void cancel(std::uint64_t tag);
  /// Ends the waits.
  void close();
  /// deadline_exceeded; invalid_state, once it is closed.
  [[nodiscard]] Result<Ended> next(std::uint64_t timeout_ns);
  /// Completions that may be there.
  [[nodiscard]] std::size_t size() const { return queue_->size(); }

 private:
  /// A call under way; the lock guards all of it behind its initiation.
  struct Underway {
    explicit Underway(std::uint64_t given) noexcept : tag(given) {}
    const std::uint64_t tag;
    boost::asio::cancellation_signal cancellation;
    bool has_begun = false;  // its thread is done with it: a cancellation can be told
    bool is_cancelled = false;
    bool is_over = false;
  };

  [[nodiscard]] bool is_closed();
  /// Its initiation has returned; a cancellation may have come before.
  void has_begun(Underway& call);
  // With the lock; `finish` is called by handlers, which run with it.
  void finish(Underway& call, Result<void> result) noexcept;
  void forget(const Underway& call) noexcept;

  std::mutex mutex_;
  bool is_closed_ = false;      // guarded by mutex_, as are the next two
  std::optional<Ended> ended_;  // by a handler, for the thread that has it run
  std::unordered_multimap<std::uint64_t, std::shared_ptr<Underway>> calls_;
  const std::unique_ptr<CompletionQueue> queue_;  // goes first: handlers use the others
};

using Queues = Handles<ringkernel_queue, QueueObject>;

template <class T, class Start, class Write>
void QueueObject::begin(std::uint64_t tag, Start&& start, Write write) {
  auto call = std::make_shared<Underway>(tag);
  {
    const std::lock_guard lock(mutex_);
    calls_.emplace(tag, call);
  }
  ScopeGuard forgetting([&]() noexcept {  // where it throws, for want of memory, nothing has begun
    const std::lock_guard lock(mutex_);
    forget(*call);
  });
  auto handler = [this, call, write = std::move(write)](Result<T> result) mutable {
    if (!result) return finish(*call, std::move(result).error());
    finish(*call, or_no_memory([&]() -> Result<void> { return write(std::move(*result)); }));
  };
  std::forward<Start>(start)(as_result(boost::asio::bind_cancellation_slot(
      call->cancellation.slot(),
      boost::asio::bind_executor(queue_->get_executor(), std::move(handler)))));
  forgetting.dismiss();
  has_begun(*call);
}

}  // namespace ringkernel::capi
