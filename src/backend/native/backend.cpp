// The native backend's table: one device, the host itself.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/guard.hpp"
#include "backend/native/compiler.hpp"
#include "backend/native/copy_engine.hpp"
#include "backend/native/native.hpp"
#include "backend/native/programs.hpp"
#include "foundation/align.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/slice_worker.hpp"
#include "kernels/rk_hosted_abi.h"
#include "kernels/rk_workspace.h"
#include "ringkernel/backend_abi.h"
#include "ringkernel/protocol/control_block.h"

namespace ringkernel::native {
namespace {

/// Zeroed memory of the process.
class Memory {
 public:
  static Result<Memory> map(const char* what, uint64_t bytes) {
    void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
      return Error(Errc::allocation_failure, std::string(what) + " of " + std::to_string(bytes) +
                                                 " bytes could not be mapped");
    return Memory(static_cast<std::byte*>(data), bytes);
  }
  Memory(Memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] uint64_t bytes() const noexcept { return bytes_; }

 private:
  Memory(std::byte* data, uint64_t bytes) noexcept : data_(data), bytes_(bytes) {}

  std::byte* data_;
  uint64_t bytes_;
};

/// zero_copy: the host works on the device's memory. The other strategies are there to be tested:
/// the device then keeps memory of its own, and nothing of the host's is seen before it is copied.
struct Device {
  uint32_t transfer;
  uint32_t work_groups;
  Memory arena;
  std::optional<Memory> twin;
  std::optional<CopyEngine> copies;

  [[nodiscard]] std::byte* host_arena() const { return twin ? twin->data() : arena.data(); }
};

/// What slices run for the messages of a program that is none of ours.
struct Called {
  SliceFunction function = nullptr;
  rk_slice_code code{};
  std::shared_ptr<const CompiledProgram> owner;  ///< null: the code is part of the process
};
using CalledPointer = std::unique_ptr<const Called>;

/// Null for a program of ours, which the executor calls itself.
Result<CalledPointer> find_called(const rk_program_source& program) {
  if (program.hosted_text == nullptr) return CalledPointer();
  const auto called = [&](const rk_hosted_program& hosted,
                          std::shared_ptr<const CompiledProgram> owner) {
    return std::make_unique<const Called>(
        Called{program.guard != 0 ? guarded_executor() : find_program(RK_PROGRAM_OF_SOURCES),
               {program.version, hosted.handler, hosted.migrate},
               std::move(owner)});
  };
  if (const rk_hosted_program* const hosted = find_compiled(program.compiled))
    return called(*hosted, nullptr);
  RK_TRY(built, compile_program(program.name, program.hosted_text));
  return called(built->hosted(), built);
}

/// A program as a queue of slices: on a worker of its own or, sliced, in the order of the copies.
/// Of several work-groups, each but the first has a worker of its own in addition.
class Executor {
 public:
  /// Of memory for each work-group.
  static constexpr uint64_t group_bytes = RK_WORKSPACE_BYTES + RK_SLICE_BYTES;

  /// `called`: null for a program of ours.
  Executor(Device& device, SliceFunction function, CalledPointer called, uint64_t offset,
           uint32_t work_groups, Memory memory)
      : device_(device),
        function_(function),
        called_(std::move(called)),
        current_(called_.get()),
        offset_(offset),
        memory_(std::move(memory)) {
    for (uint32_t group = 1; group < work_groups; ++group)
      others_.push_back(std::make_unique<SliceWorker>(
          [this, group](uint32_t slice) { run_group(slice, group); }));
    // No caller ever runs slices of several work-groups: what their threads need is taken now.
    for (const auto& other : others_) other->start();
    if (!others_.empty()) worker_.start();
  }
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor() { (void)wait(forever_ns); }

  void launch(uint32_t slice) {
    if (device_.transfer != RK_TRANSFER_SLICED) return worker_.launch(slice);
    last_slice_ = device_.copies->start([this, slice] { run_slice(slice); });
  }
  bool run(uint32_t slice) {
    return device_.transfer == RK_TRANSFER_ZERO_COPY && others_.empty() && worker_.run(slice);
  }
  bool wait(uint64_t timeout_ns) {
    if (device_.transfer != RK_TRANSFER_SLICED) return worker_.wait(timeout_ns);
    return device_.copies->wait(last_slice_, timeout_ns);
  }

  [[nodiscard]] bool is_ours() const noexcept { return called_ == nullptr; }
  void prepare(CalledPointer next) {
    old_.reserve(old_.size() + 1);  // `replace` needs no memory before it has taken place
    next_ = std::move(next);
  }
  [[nodiscard]] bool is_prepared() const noexcept { return next_ != nullptr; }
  /// Slices that begin from here on call what was prepared. False if one that calls the old still
  /// ran after `timeout_ns`.
  bool replace(uint64_t timeout_ns) {
    // release: what it points to; pairs with the acquire in run_slice
    current_.store(next_.get(), std::memory_order_release);
    old_.push_back(std::exchange(called_, std::move(next_)));
    const bool has_left = wait_for_old(timeout_ns);
    if (has_left) old_.clear();  // unloads it
    return has_left;
  }

 private:
  static constexpr uint64_t forever_ns = UINT64_MAX / 4;

  [[nodiscard]] rk_u8* workspace(uint32_t group) const {
    return reinterpret_cast<rk_u8*>(memory_.data()) + group * group_bytes;
  }
  [[nodiscard]] rk_u8* local(uint32_t group) const { return workspace(group) + RK_WORKSPACE_BYTES; }

  void run_group(uint32_t slice, uint32_t group) {
    // There the mover does not ring again what every slice looks at anyway.
    if (device_.transfer == RK_TRANSFER_SLICED) std::memset(local(group), 0, RK_SLICE_BYTES);
    const SliceFunction function = running_ != nullptr ? running_->function : function_;
    function(reinterpret_cast<rk_u8*>(device_.arena.data()), device_.arena.bytes(), offset_, slice,
             group, workspace(group), local(group),
             running_ != nullptr ? &running_->code : nullptr);
  }
  /// Returns when all work-groups have, as a launch of a device does.
  void run_slice(uint32_t slice) {
    // acquire: pairs with the release in replace
    running_ = current_.load(std::memory_order_acquire);
    running_slice_.store(slice, std::memory_order_relaxed);  // a hint, for ask_to_leave
    for (const auto& other : others_) other->launch(slice);
    run_group(slice, 0);
    for (const auto& other : others_) (void)other->wait(forever_ns);
  }

  void ask_to_leave() noexcept {
    auto* const line = reinterpret_cast<rk_executor_host_line*>(device_.arena.data() + offset_);
    // relaxed: the words stand alone
    std::atomic_ref(line->leave_slice)
        .store(running_slice_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  /// Waits until no slice runs that began before `current_` was changed.
  bool wait_for_old(uint64_t timeout_ns) {
    // Behind a job that begins now, every slice is a new one.
    if (device_.transfer == RK_TRANSFER_SLICED)
      return device_.copies->wait(device_.copies->start([] {}), timeout_ns);
    // Asked again, because a slice that is just beginning has not said its number.
    constexpr uint64_t asking_ns = 200'000;
    for (uint64_t waited_ns = 0; waited_ns < timeout_ns; waited_ns += asking_ns) {
      ask_to_leave();
      if (worker_.wait_for_current(std::min(asking_ns, timeout_ns - waited_ns))) return true;
    }
    return false;
  }

  Device& device_;
  const SliceFunction function_;  // of a program of ours
  CalledPointer called_;          // as are next_ and old_: of the thread that prepares and replaces
  CalledPointer next_;
  std::vector<CalledPointer> old_;  // that slices may still call
  std::atomic<const Called*> current_;
  const Called* running_ = nullptr;  // by the slice that runs; written by it
  std::atomic<uint32_t> running_slice_{0};
  const uint64_t offset_;
  // Workspace and local memory of each work-group, whichever threads run it: its slices run one
  // after the other, callers' too, so that no two ops of a work-group are ever under way. On no
  // stack, because a caller's may be small. What no op has touched takes no memory, so that a
  // program that packs nothing, as echo, costs addresses only.
  const Memory memory_;
  std::atomic<uint64_t> last_slice_{0};  // its ticket; sliced only
  std::vector<std::unique_ptr<SliceWorker>> others_;
  SliceWorker worker_{[this](uint32_t slice) { run_slice(slice); }};
};

// The ABI's handle types stay incomplete: each backend casts them to its own at this seam.
Device* self(rk_device* device) { return reinterpret_cast<Device*>(device); }
Executor* self(rk_executor* executor) { return reinterpret_cast<Executor*>(executor); }

int32_t score() { return 10; }

int32_t device_count(uint32_t* count) {
  *count = 1;
  return 0;
}

uint64_t memory_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
}

Error no_such_device(uint32_t device) {
  return {Errc::invalid_argument,
          "device " + std::to_string(device) + ": the native backend has one device, number 0"};
}

int32_t describe(uint32_t device, rk_device_description* out) {
  if (device != 0)
    return backend::guarded([&]() -> Result<void> { return no_such_device(device); });
  out->struct_bytes = sizeof *out;
  out->kind = RK_DEVICE_KIND_CPU;
  out->compute_units = std::max(1u, std::thread::hardware_concurrency());
  out->transfer = RK_TRANSFER_ZERO_COPY;
  out->memory_bytes = memory_bytes();
  out->allocation_bytes_max = out->memory_bytes;
  out->work_groups_max = RK_WORK_GROUPS_MAX;  // threads, which all are resident
  out->work_items_max = 1;
  std::snprintf(out->name, sizeof out->name, "host threads");
  std::snprintf(out->platform, sizeof out->platform, "native");
  std::snprintf(out->driver, sizeof out->driver, "none");
  std::snprintf(out->version, sizeof out->version, "%s", level_name());
  out->reason[0] = '\0';
  std::snprintf(out->capabilities, sizeof out->capabilities,
                "memory: the process's own\nslices: on the caller's thread or an executor thread\n"
                "instruction set: %s\n",
                level_name());
  return 0;
}

int32_t report(void (*)(void*, const char*), void*) { return 0; }

int32_t open(uint32_t device, const rk_device_options* options, rk_device** out) {
  return backend::guarded([&]() -> Result<void> {
    if (device != 0) return no_such_device(device);
    const uint64_t bytes = align_up<uint64_t>(options->arena_bytes, 4096);
    RK_TRY(arena, Memory::map("an arena", bytes));
    const bool shared = options->transfer <= RK_TRANSFER_ZERO_COPY;
    std::unique_ptr<Device> opened(new Device{
        .transfer = shared ? RK_TRANSFER_ZERO_COPY : options->transfer,
        .work_groups = std::clamp(options->work_groups, 1u, RK_WORK_GROUPS_MAX),
        .arena = std::move(arena),
        .twin = std::nullopt,
        .copies = std::nullopt,
    });
    if (!shared) {
      RK_TRY(twin, Memory::map("an arena", bytes));
      opened->twin.emplace(std::move(twin));
      opened->copies.emplace();
    }
    *out = reinterpret_cast<rk_device*>(opened.release());
    return {};
  });
}

int32_t state(rk_device* device, rk_device_state* out) {
  out->struct_bytes = sizeof *out;
  out->transfer = self(device)->transfer;
  out->arena = self(device)->host_arena();
  out->arena_bytes = self(device)->arena.bytes();
  std::snprintf(out->self_test, sizeof out->self_test, "not needed: host memory");
  out->steps_down[0] = '\0';
  out->slices_have_clock = 1;
  out->work_groups = self(device)->work_groups;
  return 0;
}

int32_t executor_prepare(rk_executor* executor, const rk_program_source* program) {
  return backend::guarded([&]() -> Result<void> {
    if (self(executor)->is_ours() || program->hosted_text == nullptr)
      return Error(Errc::unsupported, "a program that is part of the library is not replaced");
    RK_TRY(called, find_called(*program));
    self(executor)->prepare(std::move(called));
    return {};
  });
}

int32_t executor_replace(rk_executor* executor, uint64_t timeout_ns) {
  return backend::guarded([&]() -> Result<void> {
    if (!self(executor)->is_prepared())
      return Error(Errc::invalid_argument, "no program was prepared");
    if (self(executor)->replace(timeout_ns)) return {};
    return Error(Errc::execution_timeout, "a slice of the program that was replaced has not left");
  });
}

int32_t copies_start(rk_device* device, const rk_copy* copies, uint32_t count, uint64_t* ticket) {
  return backend::guarded([&]() -> Result<void> {
    Device& here = *self(device);
    if (!here.copies) return Error(Errc::unsupported_operation, "zero_copy copies nothing");
    *ticket = here.copies->start(
        [list = std::vector<rk_copy>(copies, copies + count), memory = here.arena.data()] {
          for (const rk_copy& copy : list) CopyEngine::copy(copy, memory);
        });
    return {};
  });
}

int32_t copies_wait(rk_device* device, uint64_t ticket, uint64_t timeout_ns) {
  if (self(device)->copies && self(device)->copies->wait(ticket, timeout_ns)) return 0;
  return backend::guarded([]() -> Result<void> {
    return error_of(Errc::execution_timeout, "copies have not ended in time");
  });
}

void close(rk_device* device) { delete self(device); }

int32_t executor_create(rk_device* device, const rk_program_source* program,
                        uint64_t executor_offset, uint32_t work_groups, rk_executor** out) {
  return backend::guarded([&]() -> Result<void> {
    if (work_groups == 0 || work_groups > self(device)->work_groups)
      return Error(Errc::limit_exceeded, std::to_string(work_groups) + " work-groups of " +
                                             std::to_string(self(device)->work_groups));
    const SliceFunction function = find_program(program->built_in);
    if (function == nullptr)
      return Error(Errc::program_not_found,
                   std::string("'") + program->name + "' is none that the native backend has");
    RK_TRY(called, find_called(*program));
    RK_TRY(memory, Memory::map("a workspace", work_groups * Executor::group_bytes));
    *out = reinterpret_cast<rk_executor*>(new Executor(*self(device), function, std::move(called),
                                                       executor_offset, work_groups,
                                                       std::move(memory)));
    return {};
  });
}

void executor_destroy(rk_executor* executor) { delete self(executor); }

int32_t slice_launch(rk_executor* executor, uint32_t slice) {
  return backend::guarded([&]() -> Result<void> {
    self(executor)->launch(slice);
    return {};
  });
}

int32_t slice_run(rk_executor* executor, uint32_t slice) {
  return self(executor)->run(slice) ? 0 : static_cast<int32_t>(Errc::busy);
}

int32_t slice_wait(rk_executor* executor, uint64_t timeout_ns) {
  if (self(executor)->wait(timeout_ns)) return 0;
  return backend::guarded([]() -> Result<void> {
    return error_of(Errc::execution_timeout, "a slice did not return in time");
  });
}

int32_t slice_error(rk_executor*) { return 0; }

const char* last_detail() { return backend::last_detail_text(); }

constexpr rk_backend table = {
    .abi_version = RK_BACKEND_ABI_VERSION,
    .struct_bytes = sizeof(rk_backend),
    .name = "native",
    .description = "host threads; needs no driver",
    .score = score,
    .device_count = device_count,
    .describe = describe,
    .report = report,
    .open = open,
    .state = state,
    .close = close,
    .executor_create = executor_create,
    .executor_destroy = executor_destroy,
    .executor_prepare = executor_prepare,
    .executor_replace = executor_replace,
    .copies_start = copies_start,
    .copies_wait = copies_wait,
    .slice_launch = slice_launch,
    .slice_run = slice_run,
    .slice_wait = slice_wait,
    .slice_error = slice_error,
    .last_detail = last_detail,
};

}  // namespace
}  // namespace ringkernel::native

const rk_backend* rk_backend_native(uint32_t host_abi_version) {
  return host_abi_version == RK_BACKEND_ABI_VERSION ? &ringkernel::native::table : nullptr;
}
