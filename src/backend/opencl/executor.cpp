#include "backend/opencl/executor.hpp"

#include <thread>

namespace ringkernel::opencl {

namespace {

template <class Value>
Result<void> set_argument(cl_kernel kernel, cl_uint index, Value value) {
  return check("clSetKernelArg", cl().clSetKernelArg(kernel, index, sizeof value, &value));
}

}  // namespace

Result<std::unique_ptr<Executor>> Executor::create(Device& device, const std::string& program,
                                                   uint64_t executor_offset) {
  RK_TRY(slot, device.claim_executor_slot());
  RK_TRY(kernel, device.make_executor_kernel(program));
  RK_TRY(queue, make_queue(device.context(), device.id()));
  std::unique_ptr<Executor> executor(
      new Executor(std::move(slot), std::move(queue), std::move(kernel)));
  RK_TRY_VOID(executor->warm_up(device.context()));
  device.keep_program(program);
  RK_TRY_VOID(executor->bind(device.arena(), executor_offset));
  return executor;
}

Executor::Executor(ExecutorSlot slot, Queue queue, Kernel kernel) noexcept
    : slot_(std::move(slot)), queue_(std::move(queue)), kernel_(std::move(kernel)) {}

Executor::~Executor() {
  const std::lock_guard lock(mutex_);
  // The queue is in order: behind the last slice nothing runs, whatever became of it.
  if (!running_.empty()) static_cast<void>(finish(running_.back()));
}

Result<void> Executor::bind(const SharedMemory& memory, uint64_t executor_offset) {
  RK_TRY_VOID(check("clSetKernelArgSVMPointer",
                    cl().clSetKernelArgSVMPointer(kernel_.get(), 0, memory.data())));
  RK_TRY_VOID(set_argument<cl_ulong>(kernel_.get(), 1, memory.size()));
  return set_argument<cl_ulong>(kernel_.get(), 2, executor_offset);
}

Result<void> Executor::warm_up(cl_context context) {
  RK_TRY(zeroed, SharedMemory::allocate(context, RK_LINE_BYTES));
  RK_TRY_VOID(bind(zeroed, 0));
  RK_TRY_VOID(set_argument<cl_uint>(kernel_.get(), 3, 0));
  RK_TRY(event, enqueue_one(queue_.get(), kernel_.get()));
  return finish(event);
}

Result<void> Executor::launch(uint32_t slice) {
  const std::lock_guard lock(mutex_);
  reap_locked();
  RK_TRY_VOID(failure());
  RK_TRY_VOID(set_argument<cl_uint>(kernel_.get(), 3, slice));
  RK_TRY(event, enqueue_one(queue_.get(), kernel_.get()));
  running_.push_back(std::move(event));
  return flush(queue_.get());
}

Result<void> Executor::wait(std::chrono::nanoseconds timeout) {
  using namespace std::chrono_literals;
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
    if (waited >= timeout) return Error(Errc::execution_timeout, "a slice has not returned");
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

void Executor::reap_locked() {
  while (!running_.empty()) {
    const cl_int status = event_status(running_.front().get());
    if (status > CL_COMPLETE) return;
    cl_int none = CL_SUCCESS;
    // relaxed: the status carries no data with it
    if (status < 0) failure_.compare_exchange_strong(none, status, std::memory_order_relaxed);
    running_.pop_front();
  }
}

Result<void> Executor::failure() const {
  // relaxed: as above
  const cl_int status = failure_.load(std::memory_order_relaxed);
  if (status == CL_SUCCESS) return {};
  return Error(Errc::device_error, "a slice ended with " + status_text(status));
}

}  // namespace ringkernel::opencl
