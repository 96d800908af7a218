#include "backend/opencl/device.hpp"

#include <cstdio>

#include "backend/opencl/layout.hpp"
#include "backend/opencl/program.hpp"

namespace ringkernel::opencl {

namespace {

Result<Context> make_context(cl_device_id device) {
  cl_int status = CL_SUCCESS;
  Context context(cl().clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
  RK_TRY_VOID(check("clCreateContext", status));
  return context;
}

Result<void> check_arena(const rk_device_description& device, uint64_t arena_bytes) {
  if (arena_bytes <= device.allocation_bytes_max) return {};
  return Error(Errc::limit_exceeded, std::string(device.name) + " allocates at most " +
                                         std::to_string(device.allocation_bytes_max) +
                                         " bytes at once, the arena was to have " +
                                         std::to_string(arena_bytes));
}

}  // namespace

Result<std::unique_ptr<Device>> Device::open(const FoundDevice& found,
                                             const rk_device_options& options) {
  if (found.description.transfer == RK_TRANSFER_NONE)
    return Error(Errc::backend_unavailable,
                 std::string(found.description.name) + ": " + found.description.reason);
  RK_TRY_VOID(check_arena(found.description, options.arena_bytes));
  RK_TRY(flags, build_options(found.id));
  RK_TRY(context, make_context(found.id));
  auto cache = std::make_unique<BinaryCache>(found);
  RK_TRY_VOID(check_layout(context.get(), found.id, flags, *cache));
  RK_TRY(figures, run_self_test(context.get(), found.id, flags, *cache));
  RK_TRY(arena, SharedMemory::allocate(context.get(), options.arena_bytes));
  return std::unique_ptr<Device>(new Device(found, std::move(context), std::move(arena),
                                            std::move(flags), std::move(cache), figures));
}

Device::Device(const FoundDevice& found, Context context, SharedMemory arena, std::string options,
               std::unique_ptr<BinaryCache> cache, SelfTestFigures self_test)
    : found_(found),
      context_(std::move(context)),
      arena_(std::move(arena)),
      options_(std::move(options)),
      cache_(std::move(cache)),
      self_test_(self_test) {}

rk_device_state Device::state() const {
  rk_device_state out{};
  out.struct_bytes = sizeof out;
  out.transfer = RK_TRANSFER_ZERO_COPY;
  out.arena = arena_.data();
  out.arena_bytes = arena_.size();
  out.polls_per_ms = self_test_.polls_per_ms;
  out.program_cache_hits = cache_->hits();
  out.program_cache_misses = cache_->misses();
  out.program_cache_rejected = cache_->rejected();
  std::snprintf(out.self_test, sizeof out.self_test,
                "zero_copy confirmed: 100 pings answered by a running kernel, p50 %llu ns; "
                "%llu idle polls per ms",
                static_cast<unsigned long long>(self_test_.ping_p50_ns),
                static_cast<unsigned long long>(self_test_.polls_per_ms));
  return out;
}

Result<ExecutorSlot> Device::claim_executor_slot() {
  const rk_device_description& description = found_.description;
  // A CPU device runs one slice per compute unit to its end. One unit stays free for whatever ends
  // by itself: the self-test of another runtime, the first slice of another executor.
  const uint32_t limit =
      description.kind == RK_DEVICE_KIND_CPU ? description.compute_units - 1 : UINT32_MAX;
  ExecutorSlot slot(found_.executors);
  if (slot.count() <= limit) return slot;
  return Error(Errc::limit_exceeded,
               std::string(description.name) + " has " + std::to_string(description.compute_units) +
                   " compute units, which keep " + std::to_string(limit) +
                   " executors resident (PoCL: POCL_MAX_PTHREAD_COUNT, POCL_CPU_MAX_CU_COUNT)");
}

Result<Kernel> Device::make_executor_kernel(const std::string& program) {
  const std::lock_guard lock(programs_mutex_);
  auto entry = programs_.find(program);
  if (entry == programs_.end()) {
    RK_TRY(built, build_program(context_.get(), id(), "kernels/programs/" + program + ".cl",
                                options_, *cache_));
    entry = programs_.emplace(program, std::move(built)).first;
  }
  return make_kernel(entry->second.program.get(), "rk_executor");
}

void Device::keep_program(const std::string& program) {
  const std::lock_guard lock(programs_mutex_);
  if (const auto entry = programs_.find(program); entry != programs_.end())
    cache_->store(entry->second);
}

}  // namespace ringkernel::opencl
