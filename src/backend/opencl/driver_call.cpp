#include "backend/opencl/driver_call.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

#include "foundation/memory_error.hpp"

namespace ringkernel::opencl {

namespace {

/// A call that lasts less is nothing to speak of.
constexpr std::chrono::milliseconds call_usual{50};

struct NotedCalls {
  std::mutex mutex;
  std::vector<std::shared_ptr<DriverCall>> calls;  // guarded by mutex
};

NotedCalls& noted_calls() {
  static NotedCalls& noted = *new NotedCalls;  // outlives every thread
  return noted;
}

}  // namespace

DriverCall::Clock::duration DriverCall::duration() const noexcept {
  const Clock::duration since(since_.load(std::memory_order_relaxed));
  if (name_.load(std::memory_order_relaxed) == nullptr) return {};
  return std::max(Clock::now().time_since_epoch() - since, Clock::duration{});
}

std::string DriverCall::text() const {
  const char* const name = name_.load(std::memory_order_relaxed);
  const Clock::duration lasts = duration();
  if (name == nullptr || lasts < call_usual) return {};
  char text[128];
  std::snprintf(text, sizeof text, "the driver has not come back from %s for %.1f s", name,
                std::chrono::duration<double>(lasts).count());
  return text;
}

NotedThread::NotedThread(std::shared_ptr<DriverCall> call) : call_(std::move(call)) {
  call_of_thread = call_.get();
  const std::lock_guard lock(noted_calls().mutex);
  (void)with_memory([&] { noted_calls().calls.push_back(call_); });  // or nobody is told of it
}

NotedThread::~NotedThread() {
  call_of_thread = nullptr;
  const std::lock_guard lock(noted_calls().mutex);
  std::erase(noted_calls().calls, call_);
}

std::string longest_call_text() {
  std::shared_ptr<DriverCall> longest;
  {
    const std::lock_guard lock(noted_calls().mutex);
    for (const auto& call : noted_calls().calls)
      if (longest == nullptr || call->duration() > longest->duration()) longest = call;
  }
  return longest != nullptr ? longest->text() : std::string();
}

}  // namespace ringkernel::opencl
