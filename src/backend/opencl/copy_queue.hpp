/// Copies between a device and its mirror memory, one behind the other, by tickets.
///
/// Threading: any thread. Neither `start` nor `wait` is ever inside the driver, so they end in time
/// whatever it does. Who waits looks at the ledger again and again, or sleeps until the driver
/// calls back.
/// Ownership: refers to the buffer. The destructor waits for the last copy.
/// Errors: Errc::device_error, of the first copy that failed, from then on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "backend/opencl/cl.hpp"
#include "backend/opencl/copy_bell.hpp"
#include "backend/opencl/driver_queue.hpp"
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
  /// processor on which that thread would look.
  /// `linger`: of the thread that gives the copies to the driver.
  CopyQueue(Queue queue, bool calls_back,
            std::chrono::nanoseconds linger = std::chrono::nanoseconds(0))
      : bell_(calls_back ? std::make_shared<CopyBell>() : nullptr),
        queue_(std::move(queue), calls_back, bell_, linger) {}
  CopyQueue(const CopyQueue&) = delete;
  CopyQueue& operator=(const CopyQueue&) = delete;
  ~CopyQueue();
  /// Has its thread give what is waiting, and end: the memory of copies may go from then on.
  void end();

  [[nodiscard]] cl_command_queue queue() const noexcept { return queue_.get(); }
  /// Where slices go that alternate with copies.
  [[nodiscard]] DriverQueue& commands() noexcept { return queue_; }

  /// From here on what fits goes by that one, whose memory is that of all copies.
  void use(std::unique_ptr<ResidentCopier> copier);
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
  /// By the driver's queue. The ticket of the last one.
  std::uint64_t post(cl_mem device, std::span<const rk_copy> copies);
  [[nodiscard]] DriverQueue::Enqueue give_all(cl_mem device, std::span<const rk_copy> copies);
  /// Looks at the copier's batch, if it has one: what it has not served goes into the queue.
  void look_at_copier_locked();
  /// Waits for that batch, which takes microseconds.
  Result<void> end_batch_locked();
  /// Whether the copier has that copy in hand, and no end of it.
  [[nodiscard]] bool has_copier(std::uint64_t ticket);

  const std::shared_ptr<CopyBell> bell_;  // null: nobody sleeps
  const std::shared_ptr<Ledger> ledger_ =
      std::make_shared<Ledger>("a copy", "; open another runtime, for this one copies no more");
  std::unique_ptr<ResidentCopier> copier_;  // null: all go into the queue
  // Either the queue has copies, or the copier has a batch: so all are in order. This guards that.
  std::mutex mutex_;
  std::uint64_t copiers_ticket_ = 0;  // of its batch; 0: it has none
  cl_mem copiers_device_ = nullptr;   // where that goes
  DriverQueue queue_;                 // goes first: its thread works for the copier, too
};

}  // namespace ringkernel::opencl
