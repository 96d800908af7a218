/// Copies between a device and its twin memory, one behind the other, by tickets.
///
/// Threading: any thread. `wait` never waits inside the driver, so it ends in time whatever the
/// device does. It asks again and again, or sleeps until the driver calls back.
/// Ownership: refers to the buffer. The destructor waits for the last copy. Of what a callback
/// touches each has a share, because it may come behind that.
/// Errors: Errc::device_error, of the first copy that failed, from then on.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "backend/opencl/cl.hpp"
#include "backend/opencl/copy_bell.hpp"
#include "backend/opencl/resident_copier.hpp"
#include "ringkernel/backend_abi.h"

namespace ringkernel::opencl {

Result<Event> enqueue_write(cl_command_queue queue, cl_mem to, std::size_t offset, const void* from,
                            std::size_t bytes);
Result<Event> enqueue_read(cl_command_queue queue, cl_mem from, std::size_t offset, void* to,
                           std::size_t bytes);

/// Whether the command ended within `timeout`, well or not.
bool ended_within(cl_event event, std::chrono::nanoseconds timeout);

class CopyQueue {
 public:
  /// `calls_back`: a thread that waits sleeps. For drivers whose own threads copy, and need the
  /// processor on which that thread would ask.
  CopyQueue(Queue queue, bool calls_back)
      : queue_(std::move(queue)), bell_(calls_back ? std::make_shared<CopyBell>() : nullptr) {}
  CopyQueue(const CopyQueue&) = delete;
  CopyQueue& operator=(const CopyQueue&) = delete;
  ~CopyQueue();

  [[nodiscard]] cl_command_queue queue() const noexcept { return queue_.get(); }

  /// Held around every command given to a queue of a device with `sliced`: such a driver may run
  /// what it is given inside the call, and then not bear two threads that give it something
  /// (Oclgrind ends the process).
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  /// From here on what fits goes by that one, whose memory is that of all copies.
  void use(std::unique_ptr<ResidentCopier> copier) { copier_ = std::move(copier); }
  /// Has it run. Not with the residency's lock, unlike all else.
  void ensure_copier_runs() {
    if (copier_) copier_->ensure_runs();
  }

  /// To be held around the launch of a kernel (resident_copier.hpp).
  [[nodiscard]] std::unique_lock<std::mutex> have_copier_make_way() {
    return copier_ ? copier_->make_way() : std::unique_lock<std::mutex>();
  }

  /// Starts copies between `device` and the host. Returns the ticket of the last one.
  Result<std::uint64_t> start(cl_mem device, std::span<const rk_copy> copies);
  /// Errc::execution_timeout after `timeout`.
  Result<void> wait(std::uint64_t ticket, std::chrono::nanoseconds timeout);

 private:
  /// Forgets copies that have ended and keeps the first failure.
  Result<void> reap_locked();
  /// Looks at the copier's batch: what it has not served goes into the queue.
  Result<void> look_at_copier_locked(cl_mem device);
  Result<void> enqueue_locked(cl_mem device, std::span<const rk_copy> copies, std::uint64_t ticket);
  [[nodiscard]] bool has_ended_locked(std::uint64_t ticket) const;
  /// Has the bell rung when `event` ends.
  void call_back(cl_event event);

  Queue queue_;
  const std::shared_ptr<CopyBell> bell_;  // null: nobody sleeps
  std::mutex mutex_;                      // guards the order of the queue, and what follows
  std::deque<std::pair<std::uint64_t, Event>> running_;  // the last copy of each start
  std::uint64_t tickets_ = 0;
  // Either the queue has copies, or the copier has a batch: so all are in order.
  std::unique_ptr<ResidentCopier> copier_;  // null: all go into the queue
  std::uint64_t copiers_ticket_ = 0;        // of its batch; 0: it has none
  cl_mem copiers_device_ = nullptr;         // where that goes
  std::optional<Error> failure_;
};

}  // namespace ringkernel::opencl
