#include "foundation/slice_worker.hpp"

#include <chrono>

namespace ringkernel {

SliceWorker::~SliceWorker() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SliceWorker::launch(std::uint32_t slice) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(slice);
    if (!thread_.joinable()) thread_ = std::thread([this] { thread_main(); });
  }
  changed_.notify_all();
}

bool SliceWorker::run(std::uint32_t slice) {
  {
    const std::lock_guard lock(mutex_);
    if (running_ || !queue_.empty()) return false;
    running_ = true;
  }
  run_slice_(slice);
  bool others_wait = false;
  {
    const std::lock_guard lock(mutex_);
    running_ = false;
    others_wait = !queue_.empty() || closing_ || waiters_ != 0;
  }
  if (others_wait) changed_.notify_all();
  return true;
}

bool SliceWorker::wait(std::uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  ++waiters_;
  const bool done = changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                                      [this] { return queue_.empty() && !running_; });
  --waiters_;
  return done;
}

void SliceWorker::thread_main() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !running_ && (!queue_.empty() || closing_); });
    if (queue_.empty()) return;
    const std::uint32_t slice = queue_.front();
    queue_.pop_front();
    running_ = true;
    lock.unlock();
    run_slice_(slice);
    lock.lock();
    running_ = false;
    changed_.notify_all();
  }
}

}  // namespace ringkernel
