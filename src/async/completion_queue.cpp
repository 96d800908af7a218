#include "ringkernel/completion_queue.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"

namespace ringkernel {

Result<std::unique_ptr<CompletionQueue>> CompletionQueue::open() {
  const int descriptor = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (descriptor < 0)
    return Error(Errc::limit_exceeded, std::string("eventfd: ") + std::strerror(errno));
  ScopeGuard closing([&]() noexcept { ::close(descriptor); });
  return or_no_memory([&]() -> Result<std::unique_ptr<CompletionQueue>> {
    std::unique_ptr<CompletionQueue> queue(new CompletionQueue(descriptor));
    closing.dismiss();
    return queue;
  });
}

CompletionQueue::~CompletionQueue() {
  shutdown();  // what waits is cancelled, its handlers are destroyed
  // A coroutine that is destroyed with its handler leaves the end of its frame here.
  while (take(false) != nullptr) {
  }
  destroy();
  ::close(descriptor_);
}

CompletionQueue::Attention::Attention(CompletionQueue& queue) : queue_(queue) {
  const std::lock_guard lock(queue_.mutex_);
  queue_.is_attended_ = true;
}

CompletionQueue::Attention::~Attention() {
  if (goes_on_) return;
  const std::lock_guard lock(queue_.mutex_);
  queue_.is_attended_ = false;
  if (!queue_.tasks_.empty()) queue_.tell();
}

void CompletionQueue::tell() noexcept {
  if (is_told_) return;
  is_told_ = true;
  const std::uint64_t one = 1;
  // The count is 0, so that it cannot be full.
  [[maybe_unused]] const ssize_t written = ::write(descriptor_, &one, sizeof one);
}

void CompletionQueue::untell() noexcept {
  if (!is_told_ || is_stopped_) return;
  is_told_ = false;
  std::uint64_t count = 0;
  // Nothing is there if the caller has read it, who then looks, too: so nothing is lost.
  [[maybe_unused]] const ssize_t taken = ::read(descriptor_, &count, sizeof count);
}

void CompletionQueue::put(std::unique_ptr<Task> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (!is_attended_) tell();
}

std::unique_ptr<CompletionQueue::Task> CompletionQueue::take(bool goes_on) {
  const std::lock_guard lock(mutex_);
  if (!tasks_.empty()) {
    std::unique_ptr<Task> task = std::move(tasks_.front());
    tasks_.pop_front();
    if (goes_on) is_attended_ = true;
    return task;
  }
  is_attended_ = false;
  untell();
  return nullptr;
}

CompletionQueue::Look CompletionQueue::look() {
  const std::lock_guard lock(mutex_);
  if (is_stopped_) return Look::stopped;
  if (!tasks_.empty()) return Look::something;
  untell();
  return Look::nothing;
}

void CompletionQueue::stop() noexcept {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  tell();
}

std::size_t CompletionQueue::poll() {
  std::size_t count = 0;
  Attention attention(*this);  // behind what a task throws, the others wait for another poll
  while (const std::unique_ptr<Task> task = take(true)) {
    ++count;
    task->run();
  }
  attention.goes_on();  // there is nothing, and that was noted
  return count;
}

bool CompletionQueue::poll_one() {
  const std::unique_ptr<Task> task = take(false);
  if (task == nullptr) return false;
  task->run();
  return true;
}

bool CompletionQueue::wait_for(std::chrono::nanoseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  for (auto left = timeout;; left = timeout - (Clock::now() - begin)) {
    if (const Look found = look(); found != Look::nothing) return found == Look::something;
    if (timeout.count() >= 0 && left.count() < 0) left = {};
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec bound{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
    pollfd waited{.fd = descriptor_, .events = POLLIN, .revents = 0};
    const int ready = ::ppoll(&waited, 1, timeout.count() < 0 ? nullptr : &bound, nullptr);
    if (ready == 0) return look() == Look::something;
  }
}

std::size_t CompletionQueue::size() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size();
}

}  // namespace ringkernel
