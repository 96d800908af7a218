#include "mind/answers.hpp"

namespace ringkernel::mind {

void Answers::add(std::list<Ticket>& place) noexcept {
  const std::lock_guard lock(mutex_);
  answered_.splice(answered_.end(), place);
  if (takers_ == 0 && !is_called_) call_locked();
}

void Answers::begin_taking() noexcept {
  const std::lock_guard lock(mutex_);
  ++takers_;
  is_called_ = false;  // who is on its way finds what this one leaves
}

std::list<Ticket> Answers::take(bool& leaves) noexcept {
  std::list<Ticket> taken;
  const std::lock_guard lock(mutex_);
  taken.swap(answered_);
  leaves |= taken.empty();
  if (leaves) --takers_;
  return taken;
}

void Answers::call() noexcept {
  const std::lock_guard lock(mutex_);
  call_locked();
}

void Answers::call_locked() noexcept {
  is_called_ = true;
  if (!has_ended_) return call_();
  is_to_wake_ = true;
  called_.notify_one();
}

void Answers::end_calls() noexcept {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  is_to_wake_ = true;  // who was called before may not come any more
}

void Answers::wait_for_call() noexcept {
  std::unique_lock lock(mutex_);
  called_.wait(lock, [this] { return is_to_wake_; });
  is_to_wake_ = false;
}

}  // namespace ringkernel::mind
