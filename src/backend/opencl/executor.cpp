#include "backend/opencl/executor.hpp"

#include <array>
#include <atomic>
#include <thread>

#include "backend/opencl/copy_queue.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/reserve.hpp"
#include "kernels/rk_workspace.h"

namespace ringkernel::opencl {

namespace {

/// Slices that a driver has not reported as ended, of an executor that launches one by one.
constexpr std::size_t running_usual = 16;

template <class Value>
Result<void> set_argument(cl_kernel kernel, cl_uint index, Value value) {
  return check("clSetKernelArg", cl().clSetKernelArg(kernel, index, sizeof value, &value));
}

}  // namespace

Result<std::unique_ptr<Executor>> Executor::create(Device& device, const rk_program_source& program,
                                                   uint64_t executor_offset, uint32_t work_groups) {
  if (work_groups == 0 || work_groups > device.work_groups())
    return Error(Errc::limit_exceeded, std::to_string(work_groups) + " work-groups of " +
                                           std::to_string(device.work_groups()));
  const Residency::Hold hold(device.found().residency_to_hold());
  RK_TRY(kernel, device.make_executor_kernel(program));
  const bool is_immediate = device.runs_immediate_slices();
  RK_TRY(queue, is_immediate ? make_immediate_queue(device.context(), device.id())
                             : make_queue(device.context(), device.id()));
  RK_TRY(workspaces, make_buffer(device.context(), std::size_t{work_groups} * RK_WORKSPACE_BYTES));
  std::unique_ptr<Executor> executor(new Executor(device, executor_offset, work_groups,
                                                  std::move(workspaces), std::move(queue),
                                                  std::move(kernel)));
  executor->running_.reserve(running_usual);
  device.residency().reserve();
  RK_TRY_VOID(executor->warm_up());
  device.keep_program(program);
  RK_TRY_VOID(device.set_arena_argument(executor->kernel_.get(), 0));
  RK_TRY_VOID(executor->bind(device.arena_bytes(), executor_offset));
  if (is_immediate)
    executor->worker_.emplace(
        *reinterpret_cast<rk_executor_host_line*>(device.host_arena() + executor_offset),
        [self = executor.get()](uint32_t slice) { self->run_slice(slice); });
  return executor;
}

Executor::Executor(Device& device, uint64_t offset, uint32_t work_groups, Buffer workspaces,
                   Queue queue, Kernel kernel) noexcept
    : device_(device),
      offset_(offset),
      work_groups_(work_groups),
      workspaces_(std::move(workspaces)),
      queue_(std::move(queue)),
      kernel_(std::move(kernel)) {}

Executor::~Executor() {
  device_.residency().withdraw(*this);
  const std::lock_guard lock(mutex_);
  // The queue is in order: behind the last slice nothing runs, whatever became of it.
  if (!running_.empty()) static_cast<void>(finish(running_.back()));
}

cl_command_queue Executor::queue() const noexcept {
  return device_.transfer() == RK_TRANSFER_SLICED ? device_.copies().queue() : queue_.get();
}

std::unique_lock<std::mutex> Executor::lock_queue() {
  if (device_.transfer() != RK_TRANSFER_SLICED) return {};
  return device_.copies().lock();
}

Result<void> Executor::bind(uint64_t memory_bytes, uint64_t executor_offset) {
  RK_TRY_VOID(set_argument<cl_ulong>(kernel_.get(), 1, memory_bytes));
  return set_argument<cl_ulong>(kernel_.get(), 2, executor_offset);
}

Result<void> Executor::warm_up() {
  RK_TRY(memory, make_buffer(device_.context(), RK_LINE_BYTES));
  constexpr std::array<std::byte, RK_LINE_BYTES> zeros{};
  const auto alone = lock_queue();
  const Drain drain(queue_.get());
  RK_TRY(zeroed, enqueue_write(queue_.get(), memory.get(), 0, zeros.data(), zeros.size()));
  RK_TRY_VOID(set_memory_argument(kernel_.get(), 0, memory.get()));
  RK_TRY_VOID(bind(zeros.size(), 0));
  RK_TRY_VOID(set_argument<cl_uint>(kernel_.get(), 3, 0));
  RK_TRY_VOID(set_memory_argument(kernel_.get(), 4, workspaces_.get()));
  RK_TRY_VOID(check("clSetKernelArg",  // of local memory, the size alone
                    cl().clSetKernelArg(kernel_.get(), 5, RK_SLICE_BYTES, nullptr)));
  RK_TRY(event, enqueue_one(queue_.get(), kernel_.get()));
  return finish(event);
}

Result<void> Executor::launch(uint32_t slice) {
  if (worker_) {
    RK_TRY_VOID(failure());
    return worker_->launch(slice);
  }
  // Held from being counted as resident until being so: another launch takes whoever runs nothing
  // for gone (try_returned).
  const std::lock_guard lock(mutex_);
  reap_locked();
  RK_TRY_VOID(failure());
  if (device_.has_residents() &&
      !device_.residency().try_launch(*this, slice, work_groups_, device_.resident_groups_max()))
    return Error(Errc::busy, "another program has not left yet");
  RK_TRY_VOID(set_argument<cl_uint>(kernel_.get(), 3, slice));
  const auto alone = lock_queue();
  reserve_growing(running_, running_.size() + 1);
  RK_TRY(event, enqueue_groups(queue(), kernel_.get(), work_groups_));
  running_.push_back(std::move(event));  // it has room: a slice that nobody knew of would be worse
  return flush(queue());
}

void Executor::run_slice(uint32_t slice) {
  cl_int status = cl().clSetKernelArg(kernel_.get(), 3, sizeof slice, &slice);
  if (status == CL_SUCCESS) {
    const std::size_t one = 1;
    cl_event event = nullptr;
    status = cl().clEnqueueNDRangeKernel(queue_.get(), kernel_.get(), 1, nullptr, &one, &one, 0,
                                         nullptr, &event);
    if (status == CL_SUCCESS)
      status = event_status(Event(event).get());
    else
      was_refused_.store(true, std::memory_order_relaxed);  // relaxed: failure_ publishes it
  }
  keep_failure(status);
}

Result<void> Executor::wait(std::chrono::nanoseconds timeout) {
  using namespace std::chrono_literals;
  if (worker_) {
    if (!worker_->wait(timeout))
      return error_of(Errc::execution_timeout, "a slice has not returned");
    return failure();
  }
  // OpenCL has no timed wait, so the events are asked: closely at first, then at leisure.
  constexpr auto patience = 100us;
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      reap_locked();
      if (running_.empty()) return failure();
    }
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited >= timeout) return error_of(Errc::execution_timeout, "a slice has not returned");
    if (waited < patience)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(patience);
  }
}

Result<void> Executor::error() {
  // A launch in progress holds the lock; what it would hide is found by the next question.
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock()) reap_locked();
  return failure();
}

bool Executor::try_returned() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  reap_locked();
  return running_.empty();
}

bool Executor::try_ask_to_leave(uint32_t slice) {
  // The word must not change under the driver, which may still copy what it held before.
  if (!was_told()) return false;
  auto* const line = reinterpret_cast<rk_executor_host_line*>(device_.host_arena() + offset_);
  // relaxed: the word stands alone
  std::atomic_ref(line->leave_slice).store(slice, std::memory_order_relaxed);
  if (device_.transfer() == RK_TRANSFER_ZERO_COPY) return true;
  const uint64_t offset = offset_ + RK_OFFSETOF(rk_executor_host_line, leave_slice);
  const rk_copy copy{RK_COPY_TO_DEVICE, 0, offset, sizeof line->leave_slice, &line->leave_slice, 0};
  // One that cannot be started is found by the mover, which copies all the time.
  const Result<uint64_t> ticket = device_.start_copies({&copy, 1});
  told_ticket_ = ticket.has_value() ? *ticket : 0;
  return true;
}

bool Executor::was_told() {
  if (device_.transfer() == RK_TRANSFER_ZERO_COPY) return true;
  const Result<void> copied = device_.copies().wait(told_ticket_, std::chrono::nanoseconds(0));
  return copied.has_value() || !(copied.error() == Errc::execution_timeout);
}

void Executor::reap_locked() {
  while (!running_.empty()) {
    const cl_int status = event_status(running_.front().get());
    if (status > CL_COMPLETE) return;
    keep_failure(status);
    running_.erase(running_.begin());
  }
}

void Executor::keep_failure(cl_int status) {
  cl_int none = CL_SUCCESS;
  // release: was_refused_; pairs with the acquire in failure()
  if (status < 0) failure_.compare_exchange_strong(none, status, std::memory_order_release);
}

Result<void> Executor::failure() const {
  // acquire: was_refused_; pairs with the release in keep_failure
  const cl_int status = failure_.load(std::memory_order_acquire);
  if (status == CL_SUCCESS) return {};
  // relaxed: as above
  if (was_refused_.load(std::memory_order_relaxed))
    return call_error("clEnqueueNDRangeKernel", status);
  return Error(Errc::device_error, "a slice ended with " + status_text(status));
}

}  // namespace ringkernel::opencl
