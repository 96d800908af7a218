#include "async/service_thread.hpp"

#include <cstddef>
#include <utility>

#include "foundation/memory_error.hpp"

namespace ringkernel::detail {

using std::chrono::steady_clock;

namespace {

/// Those who post themselves again and again must not keep a duty from its end.
constexpr int served_max = 64;

}  // namespace

ServiceThread::~ServiceThread() {
  context_.stop();
  join();
}

void ServiceThread::repeat(std::chrono::nanoseconds period, std::function<void()> duty) {
  period_ = period;
  duty_ = std::move(duty);
}

void ServiceThread::start() {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void ServiceThread::serve_others() noexcept {
  if (!std::exchange(is_on_duty_, false)) return;
  for (int served = 0; served < served_max; ++served) {
    std::size_t ran = 1;  // as does what finds no memory
    (void)with_memory([&] { ran = context_.poll_one(); });
    if (ran == 0) break;
  }
  is_on_duty_ = true;
}

void ServiceThread::finish() noexcept {
  work_.reset();
  join();
}

void ServiceThread::join() noexcept {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) thread_.join();
}

void ServiceThread::run() noexcept {
  if (!duty_) {
    while (!context_.stopped()) (void)with_memory([this] { context_.run(); });
    return;
  }
  steady_clock::time_point next = steady_clock::now();
  while (!context_.stopped()) {
    if (steady_clock::now() >= next) {
      is_on_duty_ = true;
      (void)with_memory(duty_);
      is_on_duty_ = false;
      next = steady_clock::now() + period_;
    }
    // Waits in the context, which needs no memory, as a timer would.
    (void)with_memory([&] { context_.run_until(next); });
  }
}

}  // namespace ringkernel::detail
