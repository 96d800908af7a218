#include "backend/opencl/driver_thread.hpp"

#include <chrono>
#include <new>
#include <system_error>
#include <utility>

namespace ringkernel::opencl {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t jobs_usual = 64;
/// A watch looks without a pause for so long, then with one.
constexpr auto closely = 300us;
constexpr auto leisure = 50us;

}  // namespace

DriverThread::DriverThread(std::function<bool()> look, std::chrono::nanoseconds linger)
    : look_(std::move(look)), linger_(linger) {
  jobs_.reserve(jobs_usual);
  doing_.reserve(jobs_usual);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // for whoever asks it is the same: perhaps later
    throw std::bad_alloc();
  }
}

DriverThread::~DriverThread() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
    is_called_.store(true, std::memory_order_relaxed);  // as in post
  }
  changed_.notify_all();
  thread_.join();
}

void DriverThread::post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    is_called_.store(true, std::memory_order_relaxed);  // a hint; it looks with the mutex
  }
  changed_.notify_all();
}

void DriverThread::ask() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_asked_, true)) return;  // it will
  }
  changed_.notify_all();
}

DriverThread::Watch::Watch(DriverThread& thread) noexcept : thread_(thread) {
  {
    const std::lock_guard lock(thread.mutex_);
    ++thread.watches_;
    ++thread.watches_ever_;
    thread.is_asked_ = true;
  }
  thread.changed_.notify_all();
}

DriverThread::Watch::~Watch() {
  const std::lock_guard lock(thread_.mutex_);
  --thread_.watches_;
}

void DriverThread::run() {
  const NotedThread noted(call_);
  std::uint64_t watches_seen = 0;
  auto watched_since = std::chrono::steady_clock::now();
  bool has_more = false;  // to look for
  bool lingers = false;
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto is_called = [this] { return !jobs_.empty() || is_asked_ || is_closing_; };
    if (lingers && !is_called()) {  // what comes with the last jobs is not to wake it anew
      lock.unlock();
      const auto begin = std::chrono::steady_clock::now();
      while (!is_called_.load(std::memory_order_relaxed) &&
             std::chrono::steady_clock::now() - begin < linger_)
        std::this_thread::yield();
      lock.lock();
    }
    if (watches_ == 0 || !has_more)
      changed_.wait(lock, is_called);
    else if (std::chrono::steady_clock::now() - watched_since >= closely)
      changed_.wait_for(lock, leisure, is_called);
    if (jobs_.empty() && is_closing_) return;
    if (!jobs_.empty() || std::exchange(watches_seen, watches_ever_) != watches_ever_)
      watched_since = std::chrono::steady_clock::now();
    jobs_.swap(doing_);
    // relaxed: a hint, and changed with the mutex
    is_called_.store(false, std::memory_order_relaxed);
    lingers = !doing_.empty() && linger_.count() != 0;
    const bool watches = watches_ != 0;
    const bool looks = std::exchange(is_asked_, false) || watches;
    lock.unlock();
    for (Job& job : doing_) job();
    has_more |= !doing_.empty();
    doing_.clear();
    if (looks) has_more = look_();
    if (watches) std::this_thread::yield();
    lock.lock();
  }
}

}  // namespace ringkernel::opencl
