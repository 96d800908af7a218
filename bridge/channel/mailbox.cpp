#include "bridge/channel/mailbox.hpp"

#include <algorithm>

#include "bridge/counting.hpp"

namespace ringkernel::bridge {

Completion* Mailbox::next_receiver_or_keep(std::span<const MessageId> ids) noexcept {
  const std::lock_guard lock(mutex_);
  if (receivers_.empty()) {
    for (const MessageId id : ids) ids_.push_back(id);  // each has a slot of its own
    return nullptr;
  }
  Completion* const completion = receivers_.front().completion;
  receivers_.pop_front();
  waiting_.fetch_sub(1);
  return completion;
}

Result<std::size_t> Mailbox::take(std::span<MessageId> ids) {
  const std::lock_guard lock(mutex_);
  const std::size_t count = std::min(ids_.size(), ids.size());
  if (count != 0) {
    std::copy_n(ids_.begin(), count, ids.begin());
    ids_.erase_begin(count);
  } else if (closed_) {
    return close_reason_;
  }
  return count;
}

bool Mailbox::wait(std::optional<std::chrono::nanoseconds> limit) {
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return !ids_.empty() || closed_; };
  if (limit) return changed_.wait_for(lock, *limit, ready);
  changed_.wait(lock, ready);
  return true;
}

Mailbox::Added Mailbox::add(Receivings& receiving) {
  const std::lock_guard lock(mutex_);
  Added added{.ticket = next_ticket_++, .id = 0, .closed = {}};
  if (!ids_.empty()) {
    added.id = ids_.front();
    ids_.pop_front();
  } else if (closed_) {
    added.closed = close_reason_;
  } else {
    receiving.front().ticket = added.ticket;
    receivers_.splice(receivers_.end(), receiving);
    waiting_.fetch_add(1);
  }
  return added;
}

bool Mailbox::remove(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(receivers_, ticket, &Receiving::ticket);
  if (found == receivers_.end()) return false;
  receivers_.erase(found);
  waiting_.fetch_sub(1);
  return true;
}

Mailbox::Receivings Mailbox::close(const Error& reason) {
  Receivings receivers;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    close_reason_ = reason;
    receivers.swap(receivers_);
    waiting_.fetch_sub(receivers.size());
  }
  changed_.notify_all();
  return receivers;
}

}  // namespace ringkernel::bridge
