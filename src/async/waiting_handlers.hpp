/// The handlers of one execution context that wait for the end of their operations. A context that
/// goes destroys them uncalled, as it does with those of its own operations.
///
/// Threading: any thread. The lock of a list is held while a handler is posted, so that its context
/// is there until then, and never while one is destroyed.
/// Ownership: the context owns the service; lists are shared with the handlers, which may outlive
/// both.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <memory>
#include <mutex>

#include "foundation/fork.hpp"

namespace ringkernel::detail {

/// What waits with a handler, and is told of its end.
class Abandonable {
 public:
  /// The handler's context has gone, and the handler with it. Called without a lock.
  virtual void abandoned() noexcept = 0;

 protected:
  ~Abandonable() = default;
};

/// A place in a list, with itself while it is in none.
class WaitingHandler {
 public:
  WaitingHandler(const WaitingHandler&) = delete;
  WaitingHandler& operator=(const WaitingHandler&) = delete;

 protected:
  /// Of those of the executor's context.
  explicit WaitingHandler(const boost::asio::any_io_executor& executor);
  ~WaitingHandler() = default;

  /// At the end of the constructor and at the beginning of the destructor.
  void enter();
  void leave() noexcept;

  /// Whether it is still there.
  [[nodiscard]] bool waits() const;
  /// If it is still there: calls `post` and, unless that throws, leaves and calls `drop`, which may
  /// destroy this object; all that before the context can go. Else the handler is gone with it.
  template <class Post, class Drop>
  void leave_with(Post&& post, Drop&& drop);

 private:
  friend class WaitingHandlers;
  struct List;
  /// The head of a list.
  WaitingHandler() = default;
  /// Takes the handler and its executor out, gives the lock back, and destroys them.
  virtual void abandon(std::unique_lock<std::mutex> lock) noexcept;
  void unlink() noexcept;

  WaitingHandler* next_ = this;
  WaitingHandler* before_ = this;
  std::shared_ptr<List> list_;
  bool left_ = false;  // by leave_with; written with the lock held
};

struct WaitingHandler::List {
  const ForkMark mark;
  std::mutex mutex;  // guards what follows, and the links
  WaitingHandler head;
  bool closed = false;  // the context has gone
};

inline bool WaitingHandler::waits() const {
  if (list_->mark.is_foreign()) return false;
  const std::lock_guard lock(list_->mutex);
  return next_ != this;
}

template <class Post, class Drop>
void WaitingHandler::leave_with(Post&& post, Drop&& drop) {
  const std::shared_ptr<List> list = list_;  // for the time after `drop`
  if (list->mark.is_foreign()) return;       // the parent calls it
  const std::lock_guard lock(list->mutex);
  if (next_ == this) return;
  post();
  unlink();
  left_ = true;
  drop();
}

}  // namespace ringkernel::detail
