#include "backend/opencl/executor.hpp"

#include <array>
#include <atomic>
#include <thread>

#include "backend/opencl/copy_queue.hpp"
#include "backend/opencl/pocl_cache.hpp"
#include "backend/opencl/pocl_mark.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/reserve.hpp"
#include "kernels/rk_workspace.h"

namespace ringkernel::opencl {

namespace {

/// Slices that a driver has not reported as ended, of an executor that launches one by one.
constexpr std::size_t running_usual = 16;

/// OpenCL has no timed wait, so events are asked: closely at first, then at leisure.
template <class Condition>
bool wait_until(Condition&& condition, std::chrono::nanoseconds timeout) {
  using namespace std::chrono_literals;
  constexpr auto patience = 100us;
  const auto begin = std::chrono::steady_clock::now();
  while (!condition()) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited >= timeout) return false;
    if (waited < patience)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(patience);
  }
  return true;
}

template <class Value>
Result<void> set_argument(cl_kernel kernel, cl_uint index, Value value) {
  return check("clSetKernelArg", twice(cl().clSetKernelArg, kernel, index, sizeof value, &value));
}

}  // namespace

Result<std::unique_ptr<Executor>> Executor::create(Device& device, const rk_program_source& program,
                                                   uint64_t executor_offset, uint32_t work_groups) {
  if (work_groups == 0 || work_groups > device.work_groups())
    return Error(Errc::limit_exceeded, std::to_string(work_groups) + " work-groups of " +
                                           std::to_string(device.work_groups()));
  const Residency::Hold hold(device.found().residency_to_hold());
  RK_TRY(workspaces, make_buffer(device.context(), std::size_t{work_groups} * RK_WORKSPACE_BYTES));
  std::unique_ptr<Executor> executor(
      new Executor(device, executor_offset, work_groups, std::move(workspaces), Queue()));
  RK_TRY(queue, executor->make_queue_of_slices());
  executor->queue_ = std::move(queue);
  executor->running_.reserve(running_usual);
  device.residency().reserve();
  RK_TRY(kernel, executor->make_kernel(program, executor->queue_.get()));
  executor->kernel_ = std::move(kernel);
  if (device.runs_immediate_slices())
    executor->worker_.emplace(
        *reinterpret_cast<rk_executor_host_line*>(device.host_arena() + executor_offset),
        [self = executor.get()](uint32_t slice) { self->run_slice(slice); });
  return executor;
}

Executor::Executor(Device& device, uint64_t offset, uint32_t work_groups, Buffer workspaces,
                   Queue queue) noexcept
    : device_(device),
      offset_(offset),
      work_groups_(work_groups),
      workspaces_(std::move(workspaces)),
      queue_(std::move(queue)) {}

Executor::~Executor() {
  device_.residency().withdraw(*this);
  const std::lock_guard lock(mutex_);
  // The queue is in order: behind the last slice nothing runs, whatever became of it.
  if (!running_.empty()) static_cast<void>(finish(running_.back().event));
}

cl_command_queue Executor::queue() const noexcept {
  return device_.transfer() == RK_TRANSFER_SLICED ? device_.copies().queue() : queue_.get();
}

std::unique_lock<std::mutex> Executor::lock_queue() {
  if (device_.transfer() != RK_TRANSFER_SLICED) return {};
  return device_.copies().lock();
}

Result<Queue> Executor::make_queue_of_slices() {
  return device_.runs_immediate_slices() ? make_immediate_queue(device_.context(), device_.id())
                                         : make_queue(device_.context(), device_.id());
}

Result<Kernel> Executor::make_kernel(const rk_program_source& program, cl_command_queue queue) {
  RK_TRY_VOID(check_files_left());
  const PoclMark mark(pocl_cache_folder(device_.found().description.platform));
  RK_TRY(kernel, device_.make_executor_kernel(program));
  const auto bind = [&](uint64_t memory_bytes, uint64_t executor_offset) -> Result<void> {
    RK_TRY_VOID(set_argument<cl_ulong>(kernel.get(), 1, memory_bytes));
    return set_argument<cl_ulong>(kernel.get(), 2, executor_offset);
  };
  RK_TRY_VOID(set_memory_argument(kernel.get(), 4, workspaces_.get()));
  RK_TRY_VOID(check("clSetKernelArg",  // of local memory, the size alone
                    twice(cl().clSetKernelArg, kernel.get(), 5, RK_SLICE_BYTES, nullptr)));
  RK_TRY_VOID(set_argument<cl_uint>(kernel.get(), 6, program.version));
  {
    RK_TRY(memory, make_buffer(device_.context(), RK_LINE_BYTES));
    constexpr std::array<std::byte, RK_LINE_BYTES> zeros{};
    const auto alone = lock_queue();
    const Drain drain(queue);
    RK_TRY(zeroed, enqueue_write(queue, memory.get(), 0, zeros.data(), zeros.size()));
    RK_TRY_VOID(set_memory_argument(kernel.get(), 0, memory.get()));
    RK_TRY_VOID(bind(zeros.size(), 0));
    RK_TRY_VOID(set_argument<cl_uint>(kernel.get(), 3, 0));
    RK_TRY(event, enqueue_one(queue, kernel.get()));
    RK_TRY_VOID(finish(event));
  }
  device_.keep_program(program);
  RK_TRY_VOID(device_.set_arena_argument(kernel.get(), 0));
  RK_TRY_VOID(bind(device_.arena_bytes(), offset_));
  return kernel;
}

Result<void> Executor::prepare(const rk_program_source& program) {
  const Residency::Hold hold(device_.found().residency_to_hold());
  RK_TRY(queue, make_queue_of_slices());  // on the executor's a slice may run
  RK_TRY(kernel, make_kernel(program, queue.get()));
  prepared_ = std::move(kernel);
  return {};
}

Result<void> Executor::replace(std::chrono::nanoseconds timeout) {
  if (!prepared_) return Error(Errc::invalid_argument, "no program was prepared");
  {
    const std::lock_guard lock(mutex_);
    Kernel replaced = std::exchange(kernel_, std::exchange(prepared_, Kernel()));
    old_ = running_.size();
    if (at_work_ != 0 && !old_at_work_) old_at_work_ = std::move(replaced);
  }
  const bool have_left = wait_until([this] { return have_old_left(); }, timeout);
  device_.residency().ask_again(*this);
  if (have_left) return {};
  return Error(Errc::execution_timeout, "a slice of the program that was replaced has not left");
}

bool Executor::have_old_left() {
  uint32_t oldest = 0;
  {
    const std::lock_guard lock(mutex_);
    reap_locked();
    if (old_ == 0 && !old_at_work_) return true;
    if (old_ != 0) oldest = running_.front().slice;
    if (old_at_work_) {
      auto* const line = reinterpret_cast<rk_executor_host_line*>(device_.host_arena() + offset_);
      // relaxed: the word stands alone
      std::atomic_ref(line->leave_slice).store(at_work_, std::memory_order_relaxed);
    }
  }
  device_.residency().ask_to_leave(*this, oldest);
  return false;
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
  std::unique_lock<std::mutex> way;
  if (device_.transfer() == RK_TRANSFER_DMA) way = device_.copies().have_copier_make_way();
  RK_TRY_VOID(set_argument<cl_uint>(kernel_.get(), 3, slice));
  const auto alone = lock_queue();
  reserve_growing(running_, running_.size() + 1);
  RK_TRY(event, enqueue_groups(queue(), kernel_.get(), work_groups_));
  running_.push_back(
      {std::move(event), slice});  // it has room: a slice that nobody knew of would be worse
  return flush(queue());
}

void Executor::run_slice(uint32_t slice) {
  cl_kernel kernel = nullptr;
  {
    const std::lock_guard lock(mutex_);
    kernel = kernel_.get();
    at_work_ = slice;
  }
  cl_int status = twice(cl().clSetKernelArg, kernel, 3, sizeof slice, &slice);
  if (status == CL_SUCCESS) {
    const std::size_t one = 1;
    cl_event event = nullptr;
    const auto run = [&] {
      return cl().clEnqueueNDRangeKernel(queue_.get(), kernel, 1, nullptr, &one, &one, 0, nullptr,
                                         &event);
    };
    status = run();
    // Not `twice`: the slice runs within the call, and a driver may fail behind it.
    if (may_pass(status) && !has_begun(slice)) status = run();
    if (status == CL_SUCCESS)
      status = event_status(Event(event).get());
    else
      was_refused_.store(true, std::memory_order_relaxed);  // relaxed: failure_ publishes it
  }
  keep_failure(status);
  const std::lock_guard lock(mutex_);
  at_work_ = 0;
  old_at_work_ = Kernel();
}

bool Executor::has_begun(uint32_t slice) const noexcept {
  const std::byte* const arena = device_.host_arena();
  const auto* const host = reinterpret_cast<const rk_executor_host_line*>(arena + offset_);
  auto* const line =
      reinterpret_cast<rk_executor_device_line*>(const_cast<std::byte*>(arena) + host->device_line);
  // relaxed: written on this thread, if at all
  return std::atomic_ref(line->running_slice).load(std::memory_order_relaxed) == slice;
}

Result<void> Executor::wait(std::chrono::nanoseconds timeout) {
  if (worker_) {
    if (!worker_->wait(timeout))
      return error_of(Errc::execution_timeout, "a slice has not returned");
    return failure();
  }
  const auto have_returned = [this] {
    const std::lock_guard lock(mutex_);
    reap_locked();
    return running_.empty();
  };
  if (!wait_until(have_returned, timeout))
    return error_of(Errc::execution_timeout, "a slice has not returned");
  return failure();
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
  const Result<uint64_t> ticket = device_.start_copies({&copy, 1}, false);
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
    const cl_int status = event_status(running_.front().event.get());
    if (status > CL_COMPLETE) return;
    keep_failure(status);
    running_.erase(running_.begin());
    if (old_ != 0) --old_;
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
