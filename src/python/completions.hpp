/// What has ended, for one asyncio event loop.
///
/// The handlers of asynchronous operations run in the loop's thread: an operation that ends in
/// another thread leaves its handler here and writes to an eventfd, for which the loop has a
/// reader. No thread of the library takes the interpreter's lock. What ends while it is initiated
/// is found at once, without the eventfd.
///
/// Threading: `run`, `initiate` and everything of `Pending` in the loop's thread, with the
/// interpreter's lock; handlers are put in by any thread.
/// Memory ordering: what is shared is guarded by the mutex. A handler that is put in while nobody
/// polls writes to the eventfd if it is the first; while somebody does, the poll's last look, under
/// the lock, finds it.
/// Ownership: handlers hold no Python object, so that any thread may destroy them.
#pragma once

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "python/errors.hpp"
#include "python/waiting.hpp"
#include "ringkernel/as_result.hpp"

namespace ringkernel::python {

/// One operation that was awaited: its result, or the future that will have it.
struct Pending {
  boost::asio::cancellation_signal cancellation;
  nb::object out;     ///< what the caller gave for the result
  nb::object future;  ///< null: none yet
  nb::object value;   ///< null: not over, or an error
  nb::object error;   ///< an exception

  /// For the collector.
  template <class Visit>
  int each(Visit&& visit) {
    for (nb::object* const object : {&out, &future, &value, &error})
      if (const int stop = visit(*object)) return stop;
    return 0;
  }
  [[nodiscard]] bool is_over() const noexcept { return value.is_valid() || error.is_valid(); }
  /// The value; or throws.
  [[nodiscard]] nb::object take();
};

class Completions final : public boost::asio::execution_context {
 public:
  Completions();
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions();

  /// That of the loop that runs in this thread.
  [[nodiscard]] static Completions& of_running_loop();
  /// Readable when there is something to run.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Runs what has ended.
  void run();

  /// `start(token)` initiates an operation whose result is a Result<T>, and `convert(pending, T&&)`
  /// makes an object of it. Gives the object if it is over at once, and else the `Pending`.
  template <class T, class Start, class Convert>
  [[nodiscard]] nb::object initiate(nb::object out, Start&& start, Convert convert);

 private:
  struct Task {
    virtual ~Task() = default;
    virtual void run() = 0;
  };
  template <class Function>
  struct TaskOf final : Task {
    explicit TaskOf(Function given) : function(std::move(given)) {}
    void run() override { std::move(function)(); }
    Function function;
  };

 public:
  /// As Asio wants it; never calls what it is given.
  class Executor {
   public:
    explicit Executor(Completions& completions) noexcept : completions_(&completions) {}
    [[nodiscard]] boost::asio::execution_context& query(
        boost::asio::execution::context_t) const noexcept {
      return *completions_;
    }
    [[nodiscard]] static constexpr auto query(boost::asio::execution::blocking_t) noexcept {
      return boost::asio::execution::blocking.never;
    }
    template <class Function>
    void execute(Function function) const {
      completions_->put(std::make_unique<TaskOf<Function>>(std::move(function)));
    }
    bool operator==(const Executor&) const noexcept = default;

   private:
    Completions* completions_;
  };

 private:
  void put(std::unique_ptr<Task> task);
  /// Runs what is there, until nothing is. Throws what a task has thrown; the others stay.
  void poll();
  void wake() noexcept;
  void finish(std::uint64_t number, nb::object value, nb::object error);
  Pending& pending(std::uint64_t number);

  const int descriptor_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Task>> tasks_;  // guarded by mutex_
  bool polling_ = false;                      // guarded by mutex_; the loop's thread will look
  std::uint64_t next_number_ = 1;             // the loop's thread alone, as is the next
  std::unordered_map<std::uint64_t, nb::object> pending_;
};

template <class T, class Start, class Convert>
nb::object Completions::initiate(nb::object out, Start&& start, Convert convert) {
  const std::uint64_t number = next_number_++;
  nb::object object = nb::cast(std::make_unique<Pending>());
  Pending& made = *nb::inst_ptr<Pending>(object);
  made.out = std::move(out);
  pending_.emplace(number, object);
  {
    const std::lock_guard lock(mutex_);
    polling_ = true;
  }
  const auto handler = [this, number, convert](Result<T> result) {
    nb::object value;
    nb::object error;
    try {
      if (result)
        value = convert(pending(number), std::move(*result));
      else
        error = to_exception(result.error());
    } catch (nb::python_error& raised) {
      error = nb::borrow(raised.value());
    } catch (const std::exception& raised) {
      error = nb::module_::import_("builtins").attr("RuntimeError")(raised.what());
    }
    finish(number, std::move(value), std::move(error));
  };
  try {
    const Unlocked unlocked;
    std::forward<Start>(start)(as_result(boost::asio::bind_cancellation_slot(
        made.cancellation.slot(), boost::asio::bind_executor(Executor(*this), handler))));
  } catch (...) {  // no memory: nothing has begun
    pending_.erase(number);
    poll();
    throw;
  }
  poll();
  return made.is_over() ? made.take() : object;
}

void bind_completions(nb::module_& module);

}  // namespace ringkernel::python
