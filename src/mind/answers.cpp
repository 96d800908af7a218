#include "mind/answers.hpp"

#include <utility>

namespace ringkernel::mind {

void Answers::add(std::list<Ticket>& place) noexcept {
  {
    const std::lock_guard lock(mutex_);
    answered_.splice(answered_.end(), place);
    if (takers_ != 0 || std::exchange(is_called_, true)) return;
  }
  called_.notify_one();
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
  {
    const std::lock_guard lock(mutex_);
    is_called_ = true;
  }
  called_.notify_one();
}

bool Answers::wait_for_call() noexcept {
  std::unique_lock lock(mutex_);
  called_.wait(lock, [this] { return is_called_ || has_ended_; });
  return is_called_;
}

void Answers::end() noexcept {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  called_.notify_one();
}

}  // namespace ringkernel::mind
