#include "runtime/service_thread.hpp"

#include <utility>

#include "foundation/memory_error.hpp"

namespace ringkernel::detail {

using std::chrono::steady_clock;

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
      (void)with_memory(duty_);
      next = steady_clock::now() + period_;
    }
    // Waits in the context, which needs no memory, as a timer would.
    (void)with_memory([&] { context_.run_until(next); });
  }
}

}  // namespace ringkernel::detail
