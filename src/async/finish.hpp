/// How an asynchronous operation ends: its handler, kept until then.
///
/// Threading: one thread at a time, beside the end of the handler's execution context.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "async/waiting_handlers.hpp"
#include "bridge/channel/late.hpp"
#include "foundation/memory_error.hpp"
#include "ringkernel/detail/handler.hpp"

namespace ringkernel::detail {

/// What a handler gets whose operation was cancelled.
inline const error_code aborted = boost::asio::error::operation_aborted;

/// A handler, kept with outstanding work on its executor, and called there exactly once (or, where
/// the handler says so, at once: handler.hpp); or destroyed with the executor's context, whatever
/// happens afterwards. All that its call needs is taken when this is made; where the handler then
/// cannot be posted for lack of memory, it is posted as soon as it can be
/// (bridge/channel/late.hpp).
template <class... Args>
class Finish {
 public:
  /// std::bad_alloc: the operation has not begun, and the handler is not called.
  explicit Finish(Handler<Args...> handler) : state_(std::make_shared<State>(std::move(handler))) {}

  /// Posts the handler; never calls one of the user's on this stack. The last use of this object.
  void operator()(Error error, Args... args) noexcept {
    state_->error = std::move(error);
    state_->values.emplace(std::move(args)...);
    if (state_->at_once) return std::exchange(state_, nullptr)->call_at_once();
    bridge::Late::see_to(std::move(state_));
  }

  [[nodiscard]] bool calls_at_once() const noexcept { return state_->at_once; }

  /// False once the handler's context has gone.
  [[nodiscard]] bool waits() const { return state_->waits(); }

  /// Who is told if the context goes first.
  void tell(std::weak_ptr<Abandonable> operation) { state_->operation = std::move(operation); }

  /// Whether the handler's context was already going when it came. For who initiates.
  [[nodiscard]] bool is_abandoned() const noexcept { return !state_->executor; }

  /// Empty once the handler's context has gone.
  [[nodiscard]] const boost::asio::any_io_executor& executor() const noexcept {
    return state_->executor;
  }

  /// Calls `cancel` when the handler's slot is triggered.
  template <class Cancel>
  void on_cancel(Cancel cancel) {
    if (!state_->handler) return;
    auto slot = boost::asio::get_associated_cancellation_slot(state_->handler);
    if (!slot.is_connected()) return;
    slot.assign([cancel = std::move(cancel)](boost::asio::cancellation_type type) {
      if (type != boost::asio::cancellation_type::none) cancel();
    });
  }

 private:
  struct State final : WaitingHandler, bridge::Late {
    using WaitingHandler::waits;

    explicit State(Handler<Args...> given)
        : WaitingHandler(given.executor),
          executor(boost::asio::prefer(given.executor,
                                       boost::asio::execution::outstanding_work.tracked)),
          sink(std::move(given.sink)),
          at_once(given.at_once),
          handler(std::move(given.function)) {
      enter();
    }
    ~State() { leave(); }

    bool try_now(std::shared_ptr<Late>& self) noexcept override {
      return with_memory([&] {
        leave_with(
            [&] {
              boost::asio::post(executor,
                                [mine = std::static_pointer_cast<State>(self)] { mine->call(); });
            },
            // From here on the context's queue alone has it, and destroys it when it goes.
            [&] { self.reset(); });
      });
    }

    void call_at_once() noexcept {
      bool is_mine = false;
      leave_with([&] { is_mine = true; }, [] {});
      if (is_mine) call();
    }

    void call() {
      typename Handler<Args...>::Function function = std::move(handler);
      // On the handler's own executor: the only place where its slot may be touched.
      if (auto slot = boost::asio::get_associated_cancellation_slot(function); slot.is_connected())
        slot.clear();
      const error_code code = error.code;
      if (sink != nullptr) *sink = std::move(error);
      std::apply([&](Args&&... args) { std::move(function)(code, std::move(args)...); },
                 std::move(*values));
    }

    void abandon(std::unique_lock<std::mutex> lock) noexcept override {
      const boost::asio::any_io_executor going = std::move(executor);
      const auto uncalled = std::move(handler);
      const std::shared_ptr<Abandonable> told = operation.lock();
      lock.unlock();  // from here on somebody else may destroy this object
      if (told != nullptr) told->abandoned();
    }

    boost::asio::any_io_executor executor;
    ErrorSink sink;
    const bool at_once;
    typename Handler<Args...>::Function handler;
    std::weak_ptr<Abandonable> operation;
    Error error;
    std::optional<std::tuple<Args...>> values;
  };

  std::shared_ptr<State> state_;
};

}  // namespace ringkernel::detail
