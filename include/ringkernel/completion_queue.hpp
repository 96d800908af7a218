/// `CompletionQueue`: where handlers run for a loop that is not Asio's (epoll, libuv, an
/// interpreter's). An execution context with one descriptor to wait for.
///
///     auto queue = CompletionQueue::open().value();
///     kernel.async_call(request, boost::asio::bind_executor(queue->get_executor(), handler));
///     ...                                   // epoll says that queue->descriptor() is readable
///     queue->poll();                        // calls the handler, here
///
/// An operation that ends in another thread leaves its handler here, and the first one makes the
/// descriptor readable. No thread of the library calls a handler.
///
/// Threading: distinct and shared objects safe. Handlers are put in by any thread; each runs in one
/// of those that poll, which are mostly one. With several, operations that are cancelled need a
/// lock of their own, as with Asio's thread pools.
/// Memory ordering: all that is shared is guarded by one mutex. Whenever a handler is there, the
/// descriptor is readable or a thread that polls has yet to look; both change with the lock held.
/// Ownership: owns handlers that have not run. Its end destroys them uncalled, and cancels what
/// others wait for, as an io_context does. Nobody polls any more by then.
/// Errors: `open` gives limit_exceeded (the process has no descriptor left) or E6004. What a
/// handler throws comes out of the function that runs it; the others stay, and the descriptor is
/// readable for them.
#pragma once

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "ringkernel/result.hpp"

namespace ringkernel {

/// An execution context for loops that are not Asio's: it runs handlers when it is polled.
class CompletionQueue final : public boost::asio::execution_context {
 public:
  class Executor;
  /// As Asio asks for it.
  using executor_type = Executor;  // NOLINT(readability-identifier-naming): Asio asks for it

  /// Errors: limit_exceeded (no descriptor is left), E6004.
  [[nodiscard]] static Result<std::unique_ptr<CompletionQueue>> open();
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;
  ~CompletionQueue();

  [[nodiscard]] Executor get_executor() noexcept;
  /// To wait for, never to be read: readable from the moment that there is a handler to run until
  /// `poll`, or a `poll_one` that gave false, has found none. It is closed with the queue.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  /// Runs what is there, and what comes meanwhile, until nothing is. How many ran.
  std::size_t poll();
  /// Runs the one that has waited longest. False: there is none.
  bool poll_one();
  /// Waits until there is a handler to run; false: there was none in time. Less than zero: for
  /// ever.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout);
  /// The same, then `poll`.
  std::size_t run_for(std::chrono::nanoseconds timeout) { return wait_for(timeout) ? poll() : 0; }

  /// Runs `start()`, which initiates operations, then `poll`: what has ended by then costs the
  /// descriptor nothing. For a thread that polls. What `start` throws comes out, before anything
  /// has run.
  template <class Start>
  std::size_t poll_behind(Start&& start) {
    {
      Attention attention(*this);
      std::forward<Start>(start)();
      attention.goes_on();
    }
    return poll();
  }

  /// Ends waits, for good: `wait_for` gives false at once, and the descriptor stays readable. For
  /// who closes a queue beside threads that wait; what is there can still be run.
  void stop() noexcept;

  /// How many wait to be run.
  [[nodiscard]] std::size_t size() const;

 private:
  struct Task {
    Task() = default;
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    virtual ~Task() = default;
    virtual void run() = 0;
  };
  template <class Function>
  struct TaskOf final : Task {
    explicit TaskOf(Function given) : function(std::move(given)) {}
    void run() override {
      Function mine = std::move(function);
      std::move(mine)();
    }
    Function function;
  };
  /// While one lives its thread is about to look, and nobody else has to be told.
  class Attention {
   public:
    explicit Attention(CompletionQueue& queue);
    Attention(const Attention&) = delete;
    Attention& operator=(const Attention&) = delete;
    ~Attention();
    /// The thread looks behind this object's end.
    void goes_on() noexcept { goes_on_ = true; }

   private:
    CompletionQueue& queue_;
    bool goes_on_ = false;
  };

  explicit CompletionQueue(int descriptor) : descriptor_(descriptor) {}

  void put(std::unique_ptr<Task> task);
  /// The first task, null if there is none; then the descriptor is not readable any more.
  /// `goes_on`: the thread will look again.
  [[nodiscard]] std::unique_ptr<Task> take(bool goes_on);
  enum class Look : std::uint8_t { something, nothing, stopped };
  /// What a wait would find; likewise.
  [[nodiscard]] Look look();
  // With the lock held.
  void tell() noexcept;
  void untell() noexcept;

  const int descriptor_;
  mutable std::mutex mutex_;
  std::deque<std::unique_ptr<Task>> tasks_;  // guarded by mutex_, as is all that follows
  bool is_told_ = false;                     // the descriptor is readable
  bool is_attended_ = false;                 // a thread will look without being told
  bool is_stopped_ = false;
};

/// As Asio wants it; never calls what it is given.
class CompletionQueue::Executor {
 public:
  explicit Executor(CompletionQueue& queue) noexcept : queue_(&queue) {}
  /// What Asio asks executors for: the context, and that `execute` never runs what it is given.
  [[nodiscard]] boost::asio::execution_context& query(
      boost::asio::execution::context_t) const noexcept {
    return *queue_;
  }
  [[nodiscard]] static constexpr auto query(boost::asio::execution::blocking_t) noexcept {
    return boost::asio::execution::blocking.never;
  }
  /// std::bad_alloc: then nothing was put in.
  template <class Function>
  void execute(Function function) const {
    queue_->put(std::make_unique<TaskOf<Function>>(std::move(function)));
  }
  bool operator==(const Executor&) const noexcept = default;

 private:
  CompletionQueue* queue_;
};

inline CompletionQueue::Executor CompletionQueue::get_executor() noexcept {
  return Executor(*this);
}

}  // namespace ringkernel
