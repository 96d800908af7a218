#include "backend/opencl/device.hpp"

#include <chrono>
#include <cstdio>

#include "backend/opencl/cache/pocl_cache.hpp"
#include "backend/opencl/cache/pocl_mark.hpp"
#include "backend/opencl/immediate.hpp"
#include "backend/opencl/program.hpp"
#include "backend/opencl/self_test/host_threads.hpp"
#include "backend/opencl/self_test/layout.hpp"
#include "foundation/environment.hpp"

namespace ringkernel::opencl {

namespace {

/// 0: the driver makes all copies. Else a resident kernel makes the small ones, where it can.
constexpr const char* copier_variable = "RINGKERNEL_RESIDENT_COPIER";

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

/// With a queue for copies the device gets memory of its own. Else it is the process's own memory
/// where the device shares it: at the process's end Intel's driver frees what it allocated, under
/// threads that still wait for replies there.
Result<ArenaMemory> make_arena(cl_context context, cl_device_id device, const CopyQueue* copies,
                               uint64_t bytes) {
  if (copies != nullptr) {
    RK_TRY(mirror, MirroredMemory::allocate(context, copies->queue(), bytes));
    return ArenaMemory(std::move(mirror));
  }
  RK_TRY(svm, device_value<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES));
  RK_TRY(shared, (svm & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM) != 0
                     ? SharedMemory::map(bytes)
                     : SharedMemory::allocate(context, bytes));
  return ArenaMemory(std::move(shared));
}

/// Has copies go by a resident kernel, where that pays and works; what became of it.
std::string use_resident_copier(const FoundDevice& found, const Probe& probe, cl_mem arena,
                                CopyQueue& copies, bool is_wanted) {
  if (!takes_ptx_option(found.id)) return std::string();
  if (!is_wanted) return std::string("; copies by the driver, with $") + copier_variable + "=0";
  auto copier = ResidentCopier::open(found, probe, arena, ResidentCopier::Memory::of_nvidia);
  if (!copier) return "; copies by the driver: " + copier.error().detail;
  copies.use(*std::move(copier));
  return "; copies by a resident kernel";
}

}  // namespace

Result<std::unique_ptr<ClDevice>> ClDevice::open(const FoundDevice& found,
                                                 const rk_device_options& options) {
  if (found.description.transfer == RK_TRANSFER_NONE)
    return Error(Errc::backend_unavailable,
                 std::string(found.description.name) + ": " + found.description.reason);
  RK_TRY_VOID(switch_of_environment("RINGKERNEL_CACHE"));
  RK_TRY(wants_copier, switch_of_environment(copier_variable));
  RK_TRY_VOID(check_arena(found.description, options.arena_bytes));
  RK_TRY(flags, build_options(found.id));
  RK_TRY_VOID(check_files_left());
  const std::string folder = pocl_cache_folder(found.description.platform);
  RK_TRY_VOID(check_pocl_room(folder));
  const PoclMark mark(folder);
  const Residency::Hold hold(found.residency_to_hold());
  RK_TRY(context, make_context(found.id));
  auto cache = std::make_unique<BinaryCache>(found);
  RK_TRY_VOID(check_layout(context.get(), found.id, flags, *cache));
  const Probe probe{context.get(), found.id, flags, *cache};
  const Wish wish{.transfer = options.transfer,
                  .work_groups = options.work_groups,
                  .test_anew = options.test_anew != 0};
  RK_TRY(choice, choose_transfer(found, probe, wish));
  if (choice.has_host_threads) flags += host_threads_option;
  std::unique_ptr<CopyQueue> copies;
  if (choice.transfer != RK_TRANSFER_ZERO_COPY) {
    RK_TRY(queue, make_queue(context.get(), found.id));
    const bool calls_back = found.description.kind == RK_DEVICE_KIND_CPU;
    // The next batch of a busy copy agent comes before a thread that sleeps is awake. Sliced, it
    // would keep a processor from the slice that it has just launched.
    const std::chrono::microseconds linger(choice.transfer == RK_TRANSFER_DMA ? 20 : 0);
    copies = std::make_unique<CopyQueue>(std::move(queue), calls_back, linger);
  }
  RK_TRY(arena, make_arena(context.get(), found.id, copies.get(), options.arena_bytes));
  std::string copier;
  if (choice.transfer == RK_TRANSFER_DMA)
    copier = use_resident_copier(found, probe, std::get<MirroredMemory>(arena).device(), *copies,
                                 wants_copier.value_or(true));
  std::unique_ptr<ClDevice> device(new ClDevice(found, std::move(context), std::move(copies),
                                                std::move(arena), std::move(flags),
                                                std::move(cache), std::move(choice)));
  device->copier_ = std::move(copier);
  return device;
}

ClDevice::ClDevice(const FoundDevice& found, Context context, std::unique_ptr<CopyQueue> copies,
                   ArenaMemory arena, std::string options, std::unique_ptr<BinaryCache> cache,
                   Choice choice)
    : found_(found),
      context_(std::move(context)),
      copies_(std::move(copies)),
      arena_(std::move(arena)),
      options_(std::move(options)),
      cache_(std::move(cache)),
      choice_(std::move(choice)),
      runs_immediate_slices_(choice_.transfer == RK_TRANSFER_ZERO_COPY &&
                             has_immediate_queues(found.id)) {}

rk_device_state ClDevice::state() const {
  rk_device_state out{};
  out.struct_bytes = sizeof out;
  out.transfer = choice_.transfer;
  out.arena = host_data(arena_);
  out.arena_bytes = size_of(arena_);
  out.polls_per_ms = choice_.figures.polls_per_ms;
  out.program_cache_hits = cache_->hits();
  out.program_cache_misses = cache_->misses();
  out.program_cache_rejected = cache_->rejected();
  out.slices_have_clock = choice_.has_host_threads ? 1 : 0;
  std::snprintf(out.self_test, sizeof out.self_test, "%s", (text_of(choice_) + copier_).c_str());
  out.work_groups = choice_.work_groups;
  std::snprintf(out.steps_down, sizeof out.steps_down, "%s", choice_.steps_down.c_str());
  return out;
}

Result<void> ClDevice::set_arena_argument(cl_kernel kernel, cl_uint index) const {
  if (const auto* shared = std::get_if<SharedMemory>(&arena_))
    return set_memory_argument(kernel, index, *shared);
  return set_memory_argument(kernel, index, std::get<MirroredMemory>(arena_).device());
}

Result<uint64_t> ClDevice::start_copies(std::span<const rk_copy> copies, bool may_launch) {
  if (!copies_) return Error(Errc::unsupported_operation, "zero_copy copies nothing");
  if (may_launch) copies_->ensure_copier_runs();
  return copies_->start(std::get<MirroredMemory>(arena_).device(), copies);
}

std::size_t ClDevice::resident_groups_max() const {
  // A CPU device runs one work-group per compute unit to its end. One unit stays free for whatever
  // ends by itself: copies, the first slice of another executor. What a GPU keeps of several
  // executors, it does not say.
  const rk_device_description& description = found_.description;
  return description.kind == RK_DEVICE_KIND_CPU ? description.compute_units - 1 : SIZE_MAX;
}

Result<ClKernel> ClDevice::make_executor_kernel(const rk_program_source& program) {
  const std::lock_guard lock(programs_mutex_);
  const std::string text(program.device_text);
  auto entry = programs_.find(text);
  if (entry == programs_.end()) {
    RK_TRY(built, build_text(context_.get(), id(), "program '" + std::string(program.name) + "'",
                             text, options_, *cache_));
    // Kernels keep what they run. A service that swaps its programs brings new ones for ever.
    constexpr std::size_t kept_max = 64;
    if (programs_.size() == kept_max) programs_.erase(programs_.begin());
    entry = programs_.emplace(text, std::move(built)).first;
  }
  return make_kernel(entry->second.program.get(), "rk_executor");
}

void ClDevice::keep_program(const rk_program_source& program) {
  const std::lock_guard lock(programs_mutex_);
  if (const auto entry = programs_.find(program.device_text); entry != programs_.end())
    cache_->store(entry->second);
}

}  // namespace ringkernel::opencl
