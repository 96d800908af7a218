/// A thread of a runtime for what no message waits for, with the Asio context that it runs. It runs
/// what is posted there and, if it has one, a duty that comes back again and again.
///
/// Threading: any thread; the context and the duty are run by one thread, which is this one's. A
/// duty lets others have their turn with `serve_others`; the duty itself is never in itself.
/// Memory ordering: Asio's: what was posted sees what was written before.
/// Ownership: the destructor ends the thread and then destroys, with the context, what has not
/// begun.
/// Errors: `start`: std::bad_alloc or std::system_error; there is no thread then. A std::bad_alloc
/// of what runs is the end of that only.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

namespace ringkernel::detail {

class ServiceThread {
 public:
  ServiceThread() = default;
  ServiceThread(const ServiceThread&) = delete;
  ServiceThread& operator=(const ServiceThread&) = delete;
  ~ServiceThread();

  [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }

  /// Calls `duty` when the thread starts and then each time that `period`, an hour at most, has
  /// passed since it ended. Once, before `start`.
  void repeat(std::chrono::nanoseconds period, std::function<void()> duty);

  /// Starts the thread, unless there is one.
  void start();

  /// Only for the duty, between two parts of it, with no lock held: runs what is ready, of which
  /// there may be some left. Nothing where it is called by what it runs.
  void serve_others() noexcept;

  /// Ends the thread when all that was posted is done, and waits for that. Not from that thread.
  void finish() noexcept;

 private:
  void run() noexcept;
  void join() noexcept;

  boost::asio::io_context context_;
  /// Keeps the thread there while nothing is posted.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  std::chrono::nanoseconds period_{0};
  std::function<void()> duty_;
  bool is_on_duty_ = false;  // of the thread; and not inside `serve_others`

  std::mutex mutex_;  // guards the thread
  std::thread thread_;
};

}  // namespace ringkernel::detail
