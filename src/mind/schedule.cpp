#include "mind/schedule.hpp"

#include <algorithm>

#include "foundation/reserve.hpp"

namespace ringkernel::mind {

std::vector<Ticket> Schedule::users(TensorId tensor, bool for_write) const {
  std::vector<Ticket> ops;
  const auto found = users_.find(tensor);
  if (found == users_.end()) return ops;
  if (found->second.last_writer != 0) ops.push_back(found->second.last_writer);
  if (for_write) ops.insert(ops.end(), found->second.readers.begin(), found->second.readers.end());
  return ops;
}

std::vector<Ticket> Schedule::dependencies(const Access& access) const {
  std::vector<Ticket> ops;
  const auto add = [&](TensorId tensor, bool for_write) {
    const std::vector<Ticket> more = users(tensor, for_write);
    ops.insert(ops.end(), more.begin(), more.end());
  };
  for (const TensorId tensor : access.reads) add(tensor, false);
  if (access.writes) add(*access.writes, true);
  std::ranges::sort(ops);
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  return ops;
}

std::uint32_t Schedule::choose_queue(std::span<const Ticket> dependencies) const {
  if (!dependencies.empty()) return ops_.at(dependencies.back()).queue;
  return static_cast<std::uint32_t>(std::ranges::min_element(loads_) - loads_.begin());
}

Ticket Schedule::add(const Access& access, std::optional<std::uint32_t> queue) {
  const Ticket op = next_;
  const std::vector<Ticket> depends_on = dependencies(access);
  Scheduled scheduled{.queue = queue ? *queue : choose_queue(depends_on),
                      .behind = static_cast<std::uint32_t>(depends_on.size()),
                      .reads = {access.reads.begin(), access.reads.end()},
                      .writes = access.writes};
  // What needs memory comes first. A tensor without users, which may be left, is as good as none.
  for (const Ticket before : depends_on) {
    std::vector<Follower>& followers = ops_.at(before).followers;
    reserve_growing(followers, followers.size() + 1);
  }
  for (const TensorId tensor : access.reads) {
    std::vector<Ticket>& readers = users_[tensor].readers;
    reserve_growing(readers, readers.size() + access.reads.size());
  }
  Users* const written = access.writes ? &users_[*access.writes] : nullptr;
  reserve_growing(ending_, ops_.size() + 1);
  Scheduled& added = ops_.emplace(op, std::move(scheduled)).first->second;
  ++next_;
  for (const Ticket before : depends_on) {
    Scheduled& first = ops_.at(before);
    const bool waits = first.queue != added.queue || !first.in_order;
    if (waits) ++added.waits_for;
    first.followers.push_back({op, waits});
  }
  for (const TensorId tensor : access.reads)
    if (tensor != access.writes) users_[tensor].readers.push_back(op);
  if (written != nullptr) {
    written->last_writer = op;
    written->readers.clear();
  }
  ++loads_[added.queue];
  return op;
}

void Schedule::forget(Ticket op, const Scheduled& scheduled) {
  --loads_[scheduled.queue];
  const auto leave = [&](TensorId tensor) {
    const auto found = users_.find(tensor);
    if (found == users_.end()) return;
    Users& users = found->second;
    if (users.last_writer == op) users.last_writer = 0;
    std::erase(users.readers, op);
    if (users.last_writer == 0 && users.readers.empty()) users_.erase(found);
  };
  for (const TensorId tensor : scheduled.reads) leave(tensor);
  if (scheduled.writes) leave(*scheduled.writes);
}

void Schedule::end(Ticket op, std::vector<Ticket>& ready) {
  ops_.at(op).ended = true;
  const std::size_t ready_before = ready.size();
  ending_.assign(1, op);
  while (!ending_.empty()) {
    const Ticket last = ending_.back();
    ending_.pop_back();
    if (ops_.at(last).behind != 0) continue;
    const auto node = ops_.extract(last);
    forget(last, node.mapped());
    for (const Follower& follower : node.mapped().followers) {
      Scheduled& next = ops_.at(follower.op);
      --next.behind;
      if (follower.waits && --next.waits_for == 0 && !next.ended) ready.push_back(follower.op);
      if (next.ended) ending_.push_back(follower.op);
    }
  }
  std::sort(ready.begin() + static_cast<std::ptrdiff_t>(ready_before), ready.end());
}

}  // namespace ringkernel::mind
