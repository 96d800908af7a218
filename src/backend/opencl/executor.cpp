#include "backend/opencl/executor.hpp"

#include <array>
#include <atomic>
#include <thread>

#include "backend/opencl/cache/pocl_cache.hpp"
#include "backend/opencl/cache/pocl_mark.hpp"
#include "backend/opencl/copy_queue.hpp"
#include "backend/opencl/wait_for_driver.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/reserve.hpp"
#include "kernels/rk_workspace.h"

namespace ringkernel::opencl {

namespace {

/// Slices that a driver has not reported as ended, of an executor that launches one by one.
constexpr std::size_t running_usual = 16;

/// Looks closely at first, then at leisure, and calls `now_and_then` meanwhile.
template <class Condition, class Ask>
bool wait_until(Condition&& condition, std::chrono::nanoseconds timeout, Ask now_and_then) {
  using namespace std::chrono_literals;
  constexpr auto patience = 100us;
  constexpr auto period = 5ms;
  const auto begin = std::chrono::steady_clock::now();
  auto asked = begin;
  while (!condition()) {
    const auto now = std::chrono::steady_clock::now();
    if (now - begin >= timeout) return false;
    if (now - asked >= period) {
      now_and_then();
      asked = now;
    }
    if (now - begin < patience)
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

Result<std::unique_ptr<ClExecutor>> ClExecutor::create(ClDevice& device,
                                                       const rk_program_source& program,
                                                       uint64_t executor_offset,
                                                       uint32_t work_groups) {
  if (work_groups == 0 || work_groups > device.work_groups())
    return Error(Errc::limit_exceeded, std::to_string(work_groups) + " work-groups of " +
                                           std::to_string(device.work_groups()));
  const Residency::Hold hold(device.found().residency_to_hold());
  RK_TRY(workspaces, make_buffer(device.context(), std::size_t{work_groups} * RK_WORKSPACE_BYTES));
  std::unique_ptr<ClExecutor> executor(
      new ClExecutor(device, executor_offset, work_groups, std::move(workspaces)));
  RK_TRY(queue, executor->make_queue_of_slices());
  executor->running_.reserve(running_usual);
  device.residency().reserve();
  RK_TRY(kernel, executor->make_kernel(program, queue.get()));
  executor->kernel_ = std::make_shared<const ClKernel>(std::move(kernel));
  if (device.runs_immediate_slices() || device.transfer() == RK_TRANSFER_SLICED)
    executor->queue_ = std::move(queue);
  else
    executor->own_.emplace(std::move(queue), device.calls_back(), nullptr,
                           std::chrono::nanoseconds(0));
  if (device.runs_immediate_slices())
    executor->worker_.emplace(
        *reinterpret_cast<rk_executor_host_line*>(device.host_arena() + executor_offset),
        [self = executor.get()](uint32_t slice) { self->run_slice(slice); });
  return executor;
}

ClExecutor::ClExecutor(ClDevice& device, uint64_t offset, uint32_t work_groups, Buffer workspaces)
    : device_(device),
      offset_(offset),
      work_groups_(work_groups),
      workspaces_(std::move(workspaces)) {}

ClExecutor::~ClExecutor() {
  device_.residency().withdraw(*this);
  // What was given to the queue refers to this.
  if (!worker_)
    (void)wait_until([this] { return ledger_->have_all_ended(); }, std::chrono::hours(1'000'000),
                     [this] { ask(); });
  worker_.reset();
  own_.reset();
}

void ClExecutor::ask() noexcept {
  if (!worker_) slices().thread().ask();
}

DriverQueue& ClExecutor::slices() noexcept { return own_ ? *own_ : device_.copies().commands(); }

std::unique_lock<std::mutex> ClExecutor::lock_queue() {
  if (device_.transfer() != RK_TRANSFER_SLICED) return {};
  return device_.copies().commands().lock_commands();
}

Result<Queue> ClExecutor::make_queue_of_slices() {
  return device_.runs_immediate_slices() ? make_immediate_queue(device_.context(), device_.id())
                                         : make_queue(device_.context(), device_.id());
}

Result<ClKernel> ClExecutor::make_kernel(const rk_program_source& program, cl_command_queue queue) {
  RK_TRY_VOID(check_files_left());
  const std::string folder = pocl_cache_folder(device_.found().description.platform);
  RK_TRY_VOID(check_pocl_room(folder));
  const PoclMark mark(folder);
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

Result<void> ClExecutor::prepare(const rk_program_source& program) {
  uint64_t number = 0;
  std::shared_ptr<const ClKernel> retired;  // released here, where nobody waits without a deadline
  {
    const std::lock_guard lock(mutex_);
    number = ++prepares_;
    retired.swap(retired_);
  }
  const Residency::Hold hold(device_.found().residency_to_hold());
  RK_TRY(queue, make_queue_of_slices());  // on the executor's a slice may run
  RK_TRY(kernel, make_kernel(program, queue.get()));
  auto made = std::make_shared<const ClKernel>(std::move(kernel));
  const std::lock_guard lock(mutex_);
  if (number == prepares_) prepared_.swap(made);
  return {};
}

Result<void> ClExecutor::replace(std::chrono::nanoseconds timeout) {
  {
    const std::lock_guard lock(mutex_);
    if (prepared_ == nullptr) return Error(Errc::invalid_argument, "no program was prepared");
    retired_ = std::exchange(kernel_, std::move(prepared_));
    old_ = running_.size();
    if (at_work_ != 0 && !old_at_work_) old_at_work_ = retired_;
  }
  std::optional<DriverThread::Watch> watch;
  if (!worker_ && !slices().calls_back()) watch.emplace(slices().thread());
  const bool have_left = wait_until([this] { return have_old_left(); }, timeout, [this] { ask(); });
  device_.residency().ask_again(*this);
  if (have_left) return {};
  return late_error("a slice of the program that was replaced has not left", stuck_text());
}

bool ClExecutor::have_old_left() {
  uint32_t oldest = 0;
  {
    const std::lock_guard lock(mutex_);
    forget_returned_locked();
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

Result<void> ClExecutor::launch(uint32_t slice) {
  if (worker_) {
    RK_TRY_VOID(ledger_->failure());
    return worker_->launch(slice);
  }
  // Held from being counted as resident until being so: another launch takes whoever runs nothing
  // for gone (try_returned).
  const std::lock_guard lock(mutex_);
  forget_returned_locked();
  RK_TRY_VOID(ledger_->failure());
  reserve_growing(running_, running_.size() + 1);
  if (device_.has_residents() &&
      !device_.residency().try_launch(*this, slice, work_groups_, device_.resident_groups_max()))
    return Error(Errc::busy, "another program has not left yet");
  const uint64_t ticket = slices().post(ledger_, [this, slice] { return give_slice(slice); });
  running_.push_back({ticket, slice});
  return {};
}

Result<Event> ClExecutor::give_slice(uint32_t slice) {
  std::shared_ptr<const ClKernel> kernel;
  {
    const std::lock_guard lock(mutex_);
    kernel = kernel_;
  }
  RK_TRY_VOID(set_argument<cl_uint>(kernel->get(), 3, slice));
  std::unique_lock<std::mutex> way;
  if (device_.transfer() == RK_TRANSFER_DMA) way = device_.copies().have_copier_make_way();
  RK_TRY(event, enqueue_groups(slices().get(), kernel->get(), work_groups_));
  if (way.owns_lock()) RK_TRY_VOID(flush(slices().get()));  // before the copier comes back
  return event;
}

std::string ClExecutor::stuck_text() {
  return worker_ ? worker_call_.text() : slices().thread().stuck_text();
}

void ClExecutor::run_slice(uint32_t slice) {
  call_of_thread = &worker_call_;
  std::shared_ptr<const ClKernel> kernel;
  {
    const std::lock_guard lock(mutex_);
    kernel = kernel_;
    at_work_ = slice;
  }
  cl_int status = twice(cl().clSetKernelArg, kernel->get(), 3, sizeof slice, &slice);
  if (status == CL_SUCCESS) {
    const std::size_t one = 1;
    cl_event event = nullptr;
    const auto run = [&] {
      return cl().clEnqueueNDRangeKernel(queue_.get(), kernel->get(), 1, nullptr, &one, &one, 0,
                                         nullptr, &event);
    };
    status = run();
    // Not `twice`: the slice runs within the call, and a driver may fail behind it.
    if (may_pass(status) && !has_begun(slice)) status = run();
    if (status == CL_SUCCESS)
      ledger_->note_end(0, event_status(Event(event).get()));
    else
      (void)with_memory([&] { ledger_->fail(call_error("clEnqueueNDRangeKernel", status)); });
  } else {
    ledger_->note_end(0, status);
  }
  const std::lock_guard lock(mutex_);
  at_work_ = 0;
  old_at_work_ = nullptr;
}

bool ClExecutor::has_begun(uint32_t slice) const noexcept {
  const std::byte* const arena = device_.host_arena();
  const auto* const host = reinterpret_cast<const rk_executor_host_line*>(arena + offset_);
  auto* const line =
      reinterpret_cast<rk_executor_device_line*>(const_cast<std::byte*>(arena) + host->device_line);
  // relaxed: written on this thread, if at all
  return std::atomic_ref(line->running_slice).load(std::memory_order_relaxed) == slice;
}

Result<void> ClExecutor::wait(std::chrono::nanoseconds timeout) {
  if (worker_) {
    if (!worker_->wait(timeout)) return late_error("a slice has not returned", stuck_text());
    return ledger_->failure();
  }
  const auto have_returned = [this] { return ledger_->have_all_ended(); };
  if (!have_returned()) {
    // A driver that calls nobody back is asked as closely as it can be.
    std::optional<DriverThread::Watch> watch;
    if (!slices().calls_back()) watch.emplace(slices().thread());
    if (!wait_until(have_returned, timeout, [this] { ask(); })) {
      ask_now_and_then();
      return late_error("a slice has not returned", stuck_text());
    }
  }
  return ledger_->failure();
}

Result<void> ClExecutor::error() {
  if (!worker_ && !ledger_->have_all_ended()) ask_now_and_then();
  return ledger_->failure();
}

/// What the driver tells by itself it is only asked to be sure of: there may have been no memory
/// for the callback.
void ClExecutor::ask_now_and_then() noexcept {
  using namespace std::chrono_literals;
  const auto period = std::chrono::nanoseconds(slices().calls_back() ? 50ms : 1ms).count();
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  // relaxed: two that ask at once do no harm
  if (now - asked_.load(std::memory_order_relaxed) < period) return;
  asked_.store(now, std::memory_order_relaxed);
  slices().thread().ask();
}

bool ClExecutor::try_returned() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  forget_returned_locked();
  if (running_.empty()) return true;
  if (!worker_ && !slices().calls_back()) slices().thread().ask();
  return false;
}

bool ClExecutor::try_ask_to_leave(uint32_t slice) {
  // The word must not change under the driver, which may still copy what it held before.
  if (!was_told()) return false;
  auto* const line = reinterpret_cast<rk_executor_host_line*>(device_.host_arena() + offset_);
  // relaxed: the word stands alone
  std::atomic_ref(line->leave_slice).store(slice, std::memory_order_relaxed);
  if (device_.transfer() == RK_TRANSFER_ZERO_COPY) return true;
  const uint64_t offset = offset_ + RK_OFFSETOF(rk_executor_host_line, leave_slice);
  const rk_copy copy{RK_COPY_TO_DEVICE, 0, offset, sizeof line->leave_slice, &line->leave_slice, 0};
  // One that cannot be started is found by the copy agent, which copies all the time.
  const Result<uint64_t> ticket = device_.start_copies({&copy, 1}, false);
  told_ticket_ = ticket.has_value() ? *ticket : 0;
  return true;
}

bool ClExecutor::was_told() {
  if (device_.transfer() == RK_TRANSFER_ZERO_COPY) return true;
  const Result<void> copied = device_.copies().wait(told_ticket_, std::chrono::nanoseconds(0));
  return copied.has_value() || !(copied.error() == Errc::execution_timeout);
}

void ClExecutor::forget_returned_locked() {
  while (!running_.empty() && ledger_->has_ended(running_.front().ticket)) {
    running_.erase(running_.begin());
    if (old_ != 0) --old_;
  }
}

}  // namespace ringkernel::opencl
