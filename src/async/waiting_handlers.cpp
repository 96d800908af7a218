#include "async/waiting_handlers.hpp"

#include <utility>

namespace ringkernel::detail {

/// Learns that its context goes. What waits then is destroyed one by one, and so is what that
/// starts.
class WaitingHandlers final : public boost::asio::execution_context::service {
 public:
  static inline boost::asio::execution_context::id id;

  explicit WaitingHandlers(boost::asio::execution_context& context)
      : service(context), list_(std::make_shared<WaitingHandler::List>()) {}
  // One that is made while its context goes is destroyed without a `shutdown`.
  ~WaitingHandlers() override { abandon_all(); }

  static std::shared_ptr<WaitingHandler::List> list_of(
      const boost::asio::any_io_executor& executor) {
    boost::asio::execution_context& context =
        boost::asio::query(executor, boost::asio::execution::context);
    return boost::asio::use_service<WaitingHandlers>(context).list_;
  }

 private:
  void shutdown() override { abandon_all(); }
  void abandon_all() noexcept {
    if (list_->mark.is_foreign()) return;
    for (;;) {
      std::unique_lock lock(list_->mutex);
      list_->closed = true;
      WaitingHandler* const first = list_->head.next_;
      if (first == &list_->head) return;
      first->unlink();
      first->abandon(std::move(lock));
    }
  }

  const std::shared_ptr<WaitingHandler::List> list_;
};

WaitingHandler::WaitingHandler(const boost::asio::any_io_executor& executor)
    : list_(WaitingHandlers::list_of(executor)) {}

void WaitingHandler::abandon(std::unique_lock<std::mutex>) noexcept {}

void WaitingHandler::enter() {
  // A context that came through a fork: its service is of no use, but the context may be.
  if (list_->mark.is_foreign()) list_ = std::make_shared<List>();
  std::unique_lock lock(list_->mutex);
  if (list_->closed) return abandon(std::move(lock));
  next_ = &list_->head;
  before_ = list_->head.before_;
  before_->next_ = this;
  next_->before_ = this;
}

void WaitingHandler::leave() noexcept {
  if (left_ || list_->mark.is_foreign()) return;
  const std::lock_guard lock(list_->mutex);
  unlink();
}

void WaitingHandler::unlink() noexcept {
  before_->next_ = next_;
  next_->before_ = before_;
  next_ = before_ = this;
}

}  // namespace ringkernel::detail
