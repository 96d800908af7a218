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
#include <utility>

#include "ringkernel/detail/operation.hpp"
#include "runtime/waiting_handlers.hpp"

namespace ringkernel::detail {

/// What a handler gets whose operation was cancelled.
inline const error_code aborted = boost::asio::error::operation_aborted;

/// A handler, kept with outstanding work on its executor, and called there exactly once; or
/// destroyed with the executor's context, whatever happens afterwards.
template <class... Args>
class Finish final : public WaitingHandler {
 public:
  explicit Finish(Handler<Args...> handler)
      : WaitingHandler(handler.executor),
        executor_(boost::asio::prefer(handler.executor,
                                      boost::asio::execution::outstanding_work.tracked)),
        handler_(std::move(handler.function)) {
    enter();
  }
  ~Finish() { leave(); }

  /// Posts the handler; never calls it on this stack.
  void operator()(error_code error, Args... args) {
    (void)leave_with([&] {
      auto call = [handler = std::move(handler_), error, ... values = std::move(args)]() mutable {
        // On the handler's own executor: the only place where its slot may be touched.
        if (auto slot = boost::asio::get_associated_cancellation_slot(handler); slot.is_connected())
          slot.clear();
        std::move(handler)(error, std::move(values)...);
      };
      const boost::asio::any_io_executor executor = std::move(executor_);  // work until the post
      boost::asio::post(executor, std::move(call));
    });
  }

  /// False once the handler has been called or its context has gone.
  using WaitingHandler::waits;

  /// Who is told if the context goes first.
  void tell(std::weak_ptr<Abandonable> operation) { operation_ = std::move(operation); }

  /// Whether the handler's context was already going when it came. For who initiates.
  [[nodiscard]] bool is_abandoned() const noexcept { return !executor_; }

  /// Empty once the handler's context has gone.
  [[nodiscard]] const boost::asio::any_io_executor& executor() const noexcept { return executor_; }

  /// Calls `cancel` when the handler's slot is triggered.
  template <class Cancel>
  void on_cancel(Cancel cancel) {
    if (!handler_) return;
    auto slot = boost::asio::get_associated_cancellation_slot(handler_);
    if (!slot.is_connected()) return;
    slot.assign([cancel = std::move(cancel)](boost::asio::cancellation_type type) {
      if (type != boost::asio::cancellation_type::none) cancel();
    });
  }

 private:
  void abandon(std::unique_lock<std::mutex> lock) noexcept override {
    const boost::asio::any_io_executor executor = std::move(executor_);
    const auto handler = std::move(handler_);
    const std::shared_ptr<Abandonable> operation = operation_.lock();
    lock.unlock();  // from here on somebody else may destroy this object
    if (operation != nullptr) operation->abandoned();
  }

  boost::asio::any_io_executor executor_;
  typename Handler<Args...>::Function handler_;
  std::weak_ptr<Abandonable> operation_;
};

}  // namespace ringkernel::detail
