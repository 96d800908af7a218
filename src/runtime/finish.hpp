/// How an asynchronous operation ends: its handler, kept until then.
///
/// Threading: one thread at a time.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <utility>

#include "ringkernel/detail/operation.hpp"

namespace ringkernel::detail {

/// What a handler gets whose operation was cancelled.
inline const error_code aborted = boost::asio::error::operation_aborted;

/// A handler, kept with outstanding work on its executor, and called there exactly once.
template <class... Args>
class Finish {
 public:
  explicit Finish(Handler<Args...> handler)
      : executor_(boost::asio::prefer(handler.executor,
                                      boost::asio::execution::outstanding_work.tracked)),
        handler_(std::move(handler.function)) {}

  /// Posts the handler; never calls it on this stack.
  void operator()(error_code error, Args... args) {
    auto call = [handler = std::move(handler_), error, ... values = std::move(args)]() mutable {
      // On the handler's own executor: the only place where its slot may be touched.
      if (auto slot = boost::asio::get_associated_cancellation_slot(handler); slot.is_connected())
        slot.clear();
      std::move(handler)(error, std::move(values)...);
    };
    const boost::asio::any_io_executor executor = std::move(executor_);  // work until the post
    boost::asio::post(executor, std::move(call));
  }

  [[nodiscard]] const boost::asio::any_io_executor& executor() const noexcept { return executor_; }

  /// Calls `cancel` when the handler's slot is triggered.
  template <class Cancel>
  void on_cancel(Cancel cancel) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler_);
    if (!slot.is_connected()) return;
    slot.assign([cancel = std::move(cancel)](boost::asio::cancellation_type type) {
      if (type != boost::asio::cancellation_type::none) cancel();
    });
  }

 private:
  boost::asio::any_io_executor executor_;
  typename Handler<Args...>::Function handler_;
};

}  // namespace ringkernel::detail
