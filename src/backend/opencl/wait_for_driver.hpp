/// For whoever needs an answer of the driver and has a deadline: the work is done on a thread of
/// its own, which may stay inside the driver for ever.
///
/// Threading: any thread.
/// Ownership: the work owns, or shares, all that it touches. Where nobody waits for it any more,
/// its thread goes on, and keeps that alive; what it has made in the end goes there, too.
/// Errors: Errc::execution_timeout with the driver's call that has not come back, and its duration.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "backend/opencl/driver_call.hpp"
#include "foundation/memory_error.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::opencl {

/// Why `what` has not come to its end: the driver's call that lasts, and the way out.
[[nodiscard]] Error stuck_error(const char* what, const DriverCall& call) noexcept;

/// E6007: `what`, and the driver's call that is why, if there is one.
[[nodiscard]] Error late_error(const char* what, const std::string& call_text) noexcept;

/// What `work` gives, a Result, or what it throws.
template <class Work>
auto or_error(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return no_memory();
  } catch (const std::exception& error) {
    return error_of(Errc::internal, error.what());
  }
}

/// Runs `main` on a thread that nobody joins. False: there is none to be had.
[[nodiscard]] bool start_thread(std::function<void()> main) noexcept;

/// What `work` gives, a Result. Where no thread is to be had it is done on this one.
template <class Work>
auto wait_for_driver(const char* what, std::chrono::nanoseconds patience, Work work)
    -> decltype(work()) {
  struct Shared {
    explicit Shared(Work given) : work(std::move(given)) {}
    std::optional<Work> work;  // until it is done, by its thread
    std::shared_ptr<DriverCall> call = std::make_shared<DriverCall>();
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    std::optional<decltype(std::declval<Work&>()())> result;
    bool is_over = false;
  };
  const auto shared = std::make_shared<Shared>(std::move(work));
  const auto do_work = [shared] {
    auto result = or_error([&] { return (*shared->work)(); });
    shared->work.reset();  // what it shared goes before anybody is told
    const std::lock_guard lock(shared->mutex);
    shared->result.emplace(std::move(result));
    shared->is_over = true;
    shared->changed.notify_all();
  };
  const bool is_started = start_thread([do_work, shared] {
    const NotedThread noted(shared->call);
    do_work();
  });
  if (!is_started) do_work();
  std::unique_lock lock(shared->mutex);
  if (!shared->changed.wait_for(lock, patience, [&] { return shared->is_over; }))
    return stuck_error(what, *shared->call);
  return *std::move(shared->result);
}

}  // namespace ringkernel::opencl
