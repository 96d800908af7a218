#include "backend/opencl/immediate.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <set>

#include "backend/opencl/query.hpp"
#include "foundation/fork.hpp"

namespace ringkernel::opencl {

namespace {

/// What the end of the process has to stop.
struct ProcessEnd {
  ForkMark mark;
  std::mutex mutex;
  std::condition_variable slice_ended;
  std::set<rk_executor_host_line*> executors;  // guarded by mutex, as are the following
  int running = 0;                             // slices
  bool has_begun = false;
};

ProcessEnd& process_end() {
  static ProcessEnd& end = *new ProcessEnd;  // outlives every static destructor
  return end;
}

void stop_slices() {
  constexpr std::chrono::seconds patience(5);
  ProcessEnd& end = process_end();
  if (end.mark.is_foreign()) return;  // the slices are the parent's
  std::unique_lock lock(end.mutex);
  end.has_begun = true;
  for (rk_executor_host_line* const executor : end.executors)
    // release: as the bridge's own; pairs with the load in rk_slice_verdict
    std::atomic_ref(executor->stop).store(1, std::memory_order_release);
  end.slice_ended.wait_for(lock, patience, [&end] { return end.running == 0; });
}

/// Registered before whatever the program registers, so called behind the destructors of its static
/// objects, a runtime perhaps among them, and before those of loaded libraries, the driver's.
[[gnu::constructor(101)]] void register_stop() { std::atexit(stop_slices); }

}  // namespace

bool has_immediate_queues(cl_device_id device) {
  return has_extension(device, "cl_intel_exec_by_local_thread");
}

Result<Queue> make_immediate_queue(cl_context context, cl_device_id device) {
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES,
                                            CL_QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL, 0};
  cl_int status = CL_SUCCESS;
  Queue queue(cl().clCreateCommandQueueWithProperties(context, device, properties, &status));
  RK_TRY_VOID(check("clCreateCommandQueueWithProperties", status));
  return queue;
}

ImmediateWorker::ImmediateWorker(rk_executor_host_line& executor,
                                 std::function<void(uint32_t)> run_slice)
    : executor_(executor), run_slice_(std::move(run_slice)) {
  const std::lock_guard lock(process_end().mutex);
  process_end().executors.insert(&executor_);
}

ImmediateWorker::~ImmediateWorker() {
  const std::lock_guard lock(process_end().mutex);
  process_end().executors.erase(&executor_);
}

Result<void> ImmediateWorker::launch(uint32_t slice) {
  {
    const std::lock_guard lock(process_end().mutex);
    if (process_end().has_begun) return Error(Errc::device_error, "the process is ending");
  }
  worker_.launch(slice);
  return {};
}

bool ImmediateWorker::wait(std::chrono::nanoseconds timeout) {
  return worker_.wait(static_cast<uint64_t>(timeout.count()));
}

void ImmediateWorker::run(uint32_t slice) const {
  ProcessEnd& end = process_end();
  {
    const std::lock_guard lock(end.mutex);
    if (end.has_begun) return;
    ++end.running;
  }
  run_slice_(slice);
  {
    const std::lock_guard lock(end.mutex);
    --end.running;
  }
  end.slice_ended.notify_all();
}

}  // namespace ringkernel::opencl
