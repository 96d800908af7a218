#include "backend/opencl/copy_bell.hpp"

#include <utility>

namespace ringkernel::opencl {

CopyBell::~CopyBell() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  watched_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

std::uint64_t CopyBell::rings() {
  const std::lock_guard lock(mutex_);
  return rings_;
}

void CopyBell::ring() {
  {
    const std::lock_guard lock(mutex_);
    ++rings_;
  }
  rung_.notify_all();
}

void CopyBell::wait(std::uint64_t heard) {
  std::unique_lock lock(mutex_);
  if (!watcher_.joinable()) watcher_ = std::thread([this] { watch(); });
  ++sleepers_;
  if (!std::exchange(slept_, true)) watched_.notify_all();
  rung_.wait(lock, [this, heard, tick = ticks_] { return rings_ != heard || ticks_ != tick; });
  --sleepers_;
}

/// Ends a period after the other while somebody sleeps, and sleeps without a timer while nobody
/// does.
void CopyBell::watch() {
  std::unique_lock lock(mutex_);
  const auto closing = [this] { return closing_; };
  for (;;) {
    watched_.wait(lock, [this] { return closing_ || slept_; });
    slept_ = sleepers_ != 0;
    if (watched_.wait_for(lock, watch_period_, closing)) return;
    if (sleepers_ == 0) continue;
    slept_ = true;
    ++ticks_;
    rung_.notify_all();
  }
}

}  // namespace ringkernel::opencl
