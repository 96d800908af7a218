#include "foundation/slice_worker.hpp"

#include <chrono>
#include <new>
#include <system_error>

namespace ringkernel {

SliceWorker::~SliceWorker() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    note_attended();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SliceWorker::note_attended() noexcept {
  // relaxed: the word orders nothing but slices, and a read-modify-write passes their release on
  if (!queue_.empty() || waiters_ != 0 || closing_)
    state_.fetch_or(attended, std::memory_order_relaxed);
  else
    state_.fetch_and(~attended, std::memory_order_relaxed);
}

void SliceWorker::start() {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) return;
  try {
    thread_ = std::thread([this] { thread_main(); });
  } catch (const std::system_error&) {  // for whoever asks it is the same: perhaps later
    throw std::bad_alloc();
  }
}

void SliceWorker::launch(std::uint32_t slice) {
  start();
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(slice);
    note_attended();
  }
  changed_.notify_all();
}

bool SliceWorker::run(std::uint32_t slice) {
  std::uint32_t idle = 0;
  // acquire: what the slice before wrote; pairs with the releases in end() and thread_main()
  if (!state_.compare_exchange_strong(idle, running, std::memory_order_acquire,
                                      std::memory_order_relaxed))
    return false;
  run_slice_(slice);
  end();
  return true;
}

void SliceWorker::end() {
  std::uint32_t alone = running;
  // release: what the slice wrote; pairs with the acquires of whoever finds that it has ended
  if (state_.compare_exchange_strong(alone, 0, std::memory_order_release,
                                     std::memory_order_relaxed))
    return;
  const std::lock_guard lock(mutex_);  // until told, so that who waits outlives the telling
  state_.fetch_and(~running, std::memory_order_release);
  changed_.notify_all();
}

bool SliceWorker::wait(std::uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  ++waiters_;
  note_attended();
  const bool done = changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                                      [this] { return queue_.empty() && !is_running(); });
  --waiters_;
  note_attended();
  return done;
}

bool SliceWorker::wait_for_current(std::uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  ++waiters_;
  // release: pairs with the acquire in run(), which may come when `attended` is gone again: that
  // takes a read-modify-write, which passes this one on. acquire: as is_running.
  state_.fetch_or(attended, std::memory_order_acq_rel);
  const std::uint64_t turns = turns_;
  // Meanwhile only the thread begins slices.
  const bool done = changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                                      [&] { return turns_ != turns || !is_running(); });
  --waiters_;
  note_attended();
  return done;
}

void SliceWorker::thread_main() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !is_running() && (!queue_.empty() || closing_); });
    if (queue_.empty()) return;
    const std::uint32_t slice = queue_.front();
    state_.fetch_or(running, std::memory_order_relaxed);  // the queue has kept `run` out
    queue_.erase(queue_.begin());
    ++turns_;
    note_attended();
    lock.unlock();
    run_slice_(slice);
    lock.lock();
    // release: what the slice wrote; pairs with the acquire in run(), which takes no mutex
    state_.fetch_and(~running, std::memory_order_release);
    changed_.notify_all();
  }
}

}  // namespace ringkernel
