#include "backend/opencl/self_test/host_threads.hpp"

#include <unistd.h>

#include <string_view>

#include "backend/opencl/copy_queue.hpp"
#include "backend/opencl/memory.hpp"
#include "backend/opencl/program.hpp"

namespace ringkernel::opencl {

namespace {

#if defined(__linux__) && defined(__x86_64__)
constexpr bool system_calls_known = true;
#else
constexpr bool system_calls_known = false;
#endif

Result<uint32_t> process_of(const Probe& probe) {
  RK_TRY(built, build_program(probe.context, probe.device, "kernels/host_thread_probe.cl",
                              probe.options, probe.cache));
  RK_TRY(kernel, make_kernel(built.program.get(), "rk_host_thread_probe"));
  RK_TRY(queue, make_queue(probe.context, probe.device));
  RK_TRY(memory, make_buffer(probe.context, sizeof(uint32_t)));
  RK_TRY_VOID(set_memory_argument(kernel.get(), 0, memory.get()));
  uint32_t process = 0;
  const Drain drain(queue.get());
  RK_TRY(ran, enqueue_one(queue.get(), kernel.get()));
  RK_TRY(read, enqueue_read(queue.get(), memory.get(), 0, &process, sizeof process));
  RK_TRY_VOID(finish(read));
  probe.cache.store(built);
  return process;
}

}  // namespace

bool has_host_threads(const FoundDevice& found, const Probe& probe) {
  if (!system_calls_known || found.description.kind != RK_DEVICE_KIND_CPU ||
      std::string_view(found.description.platform) != pocl_platform)
    return false;
  const Result<uint32_t> process = process_of(probe);
  return process.has_value() && *process == static_cast<uint32_t>(getpid());
}

}  // namespace ringkernel::opencl
