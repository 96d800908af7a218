#include "capi/queue.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <chrono>
#include <limits>

namespace ringkernel::capi {

Result<std::shared_ptr<QueueObject>> QueueObject::open() {
  RK_TRY(queue, CompletionQueue::open());
  return std::make_shared<QueueObject>(std::move(queue));
}

void QueueObject::has_begun(Underway& call) {
  const std::lock_guard lock(mutex_);
  call.has_begun = true;
  if (call.is_cancelled && !call.is_over)
    call.cancellation.emit(boost::asio::cancellation_type::all);
}

void QueueObject::finish(Underway& call, Result<void> result) noexcept {
  call.is_over = true;
  ended_.emplace(Ended{call.tag, result ? Error() : std::move(result).error()});
  if (ended_->error.code == boost::asio::error::operation_aborted)
    ended_->error.code = make_error_code(Errc::cancelled);
  forget(call);
}

void QueueObject::forget(const Underway& call) noexcept {
  const auto [begin, end] = calls_.equal_range(call.tag);
  const auto found =
      std::find_if(begin, end, [&](const auto& entry) { return entry.second.get() == &call; });
  if (found != end) calls_.erase(found);
}

void QueueObject::cancel(std::uint64_t tag) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = calls_.equal_range(tag);
  for (auto entry = begin; entry != end; ++entry) {
    Underway& call = *entry->second;
    if (!std::exchange(call.is_cancelled, true) && call.has_begun)
      call.cancellation.emit(boost::asio::cancellation_type::all);
  }
}

void QueueObject::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  queue_->stop();
}

Result<QueueObject::Ended> QueueObject::next(std::uint64_t timeout_ns) {
  using Clock = std::chrono::steady_clock;
  const bool for_ever = timeout_ns == std::numeric_limits<std::uint64_t>::max();
  const std::chrono::nanoseconds timeout = to_duration(timeout_ns);
  const Clock::time_point begin = timeout_ns != 0 ? Clock::now() : Clock::time_point();
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_) return Error(Errc::invalid_state, "the queue was closed");
      while (!ended_ && queue_->poll_one()) {
      }
      if (ended_) {
        Ended ended = std::move(*ended_);
        ended_.reset();
        return ended;
      }
    }
    std::chrono::nanoseconds left(-1);
    if (!for_ever && timeout_ns != 0)
      left = std::max(timeout - (Clock::now() - begin), std::chrono::nanoseconds(0));
    if (timeout_ns != 0 && queue_->wait_for(left)) continue;
    if (timeout_ns == 0 || !is_closed())
      return Error(Errc::deadline_exceeded, "no call of the queue ended in time");
  }
}

bool QueueObject::is_closed() {
  const std::lock_guard lock(mutex_);
  return is_closed_;
}

}  // namespace ringkernel::capi
