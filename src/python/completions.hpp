/// What has ended, for one asyncio event loop.
///
/// The handlers of asynchronous operations run in the loop's thread, by a `CompletionQueue` for
/// whose descriptor the loop has a reader. No thread of the library takes the interpreter's lock.
/// What ends while it is initiated is found at once, without the descriptor.
///
/// Threading: `run`, `initiate` and everything of `Pending` in the loop's thread, with the
/// interpreter's lock; handlers are put in by any thread.
/// Ownership: handlers hold no Python object, so that any thread may destroy them.
#pragma once

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "foundation/scope_guard.hpp"
#include "python/errors.hpp"
#include "python/waiting.hpp"
#include "ringkernel/as_result.hpp"
#include "ringkernel/completion_queue.hpp"

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

class Completions {
 public:
  Completions();

  /// That of the loop that runs in this thread.
  [[nodiscard]] static Completions& of_running_loop();
  /// Readable when there is something to run.
  [[nodiscard]] int descriptor() const noexcept { return queue_->descriptor(); }
  /// Runs what has ended.
  void run() { queue_->poll(); }

  /// `start(token)` initiates an operation whose result is a Result<T>, and `convert(pending, T&&)`
  /// makes an object of it. Gives the object if it is over at once, and else the `Pending`.
  template <class T, class Start, class Convert>
  [[nodiscard]] nb::object initiate(nb::object out, Start&& start, Convert convert);

 private:
  void finish(std::uint64_t number, nb::object value, nb::object error);
  Pending& pending(std::uint64_t number);

  std::uint64_t next_number_ = 1;  // the loop's thread alone, as is the next
  std::unordered_map<std::uint64_t, nb::object> pending_;
  const std::unique_ptr<CompletionQueue> queue_;  // goes first: handlers use the others
};

template <class T, class Start, class Convert>
nb::object Completions::initiate(nb::object out, Start&& start, Convert convert) {
  const std::uint64_t number = next_number_++;
  nb::object object = nb::cast(std::make_unique<Pending>());
  Pending& made = *nb::inst_ptr<Pending>(object);
  made.out = std::move(out);
  pending_.emplace(number, object);
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
  // Of a handler that throws, an event loop hears. Those behind it have their turn of the loop.
  queue_->poll_behind([&] {
    // Where it throws, for want of memory, nothing has begun.
    ScopeGuard forgetting([&]() noexcept { pending_.erase(number); });
    {
      const Unlocked unlocked;
      std::forward<Start>(start)(as_result(boost::asio::bind_cancellation_slot(
          made.cancellation.slot(), boost::asio::bind_executor(queue_->get_executor(), handler))));
    }
    forgetting.dismiss();
  });
  return made.is_over() ? made.take() : object;
}

void bind_completions(nb::module_& module);

}  // namespace ringkernel::python
