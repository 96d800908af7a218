// A backend of tests, as a plugin: threads of the host as the native backend has them, and yet two
// memories. The device works on one of its own, and sees nothing of the host's before it is copied.
// So sanitizers can watch what crosses from one memory to the other.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/guard.hpp"
#include "backend/native/executor.hpp"
#include "backend/native/memory.hpp"
#include "backend/native/native.hpp"
#include "foundation/align.hpp"
#include "foundation/memory_error.hpp"
#include "plugins/two_memories/copy_engine.hpp"
#include "ringkernel/backend_abi.h"
#include "ringkernel/protocol/control_block.h"

namespace ringkernel::two_memories {
namespace {

using native::Memory;

struct Device {
  uint32_t transfer;
  uint32_t work_groups;
  Memory arena;
  Memory mirror;  // on the host
  CopyEngine copies;
};

/// Slices on a worker beside the copies or, sliced, in one order with them.
class Executor {
 public:
  Executor(Device& device, std::unique_ptr<native::HostExecutor> slices) noexcept
      : device_(device), slices_(std::move(slices)) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor() { (void)wait(native::HostExecutor::forever_ns); }

  void launch(uint32_t slice) {
    if (!is_sliced()) return slices_->launch(slice);
    last_slice_ = device_.copies.start([this, slice] { run_to_its_end(slice); });
  }
  bool wait(uint64_t timeout_ns) {
    if (!is_sliced()) return slices_->wait(timeout_ns);
    return device_.copies.wait(last_slice_, timeout_ns);
  }
  [[nodiscard]] native::HostExecutor& slices() noexcept { return *slices_; }

 private:
  [[nodiscard]] bool is_sliced() const noexcept { return device_.transfer == RK_TRANSFER_SLICED; }

  void run_to_its_end(uint32_t slice) {
    // The copy agent does not ring again what every slice looks at anyway.
    slices_->forget();
    if (slices_->run(slice)) return;
    slices_->launch(slice);
    (void)slices_->wait(native::HostExecutor::forever_ns);
  }

  Device& device_;
  const std::unique_ptr<native::HostExecutor> slices_;
  std::atomic<uint64_t> last_slice_{0};  // its ticket; sliced only
};

Device* self(rk_device* device) { return reinterpret_cast<Device*>(device); }
Executor* self(rk_executor* executor) { return reinterpret_cast<Executor*>(executor); }

const rk_backend& host() { return *rk_backend_native(RK_BACKEND_ABI_VERSION); }

int32_t score() { return host().score(); }
int32_t device_count(uint32_t* count) { return host().device_count(count); }
int32_t report(void (*line)(void*, const char*), void* context) {
  return host().report(line, context);
}

int32_t describe(uint32_t device, rk_device_description* out) {
  const int32_t status = host().describe(device, out);
  if (status != 0) return status;
  out->transfer = RK_TRANSFER_DMA;
  std::snprintf(out->platform, sizeof out->platform, "two memories");
  std::snprintf(out->reason, sizeof out->reason, "for tests: its memory is not the host's");
  std::snprintf(out->capabilities, sizeof out->capabilities,
                "memory: its own, and a mirror on the host\nslices: on an executor thread\n");
  return 0;
}

int32_t open(uint32_t device, const rk_device_options* options, rk_device** out) {
  return backend::guarded([&]() -> Result<void> {
    if (device != 0) return Error(Errc::invalid_argument, "there is one device, number 0");
    if (options->transfer == RK_TRANSFER_ZERO_COPY)
      return Error(Errc::backend_unavailable, "two memories: there is no zero_copy");
    const uint64_t bytes = align_up<uint64_t>(options->arena_bytes, 4096);
    RK_TRY(arena, Memory::map("an arena", bytes));
    RK_TRY(mirror, Memory::map("an arena", bytes));
    *out = reinterpret_cast<rk_device*>(new Device{
        .transfer = std::max(options->transfer, RK_TRANSFER_DMA),
        .work_groups = std::clamp(options->work_groups, 1u, RK_WORK_GROUPS_MAX),
        .arena = std::move(arena),
        .mirror = std::move(mirror),
        .copies = {},
    });
    return {};
  });
}

int32_t state(rk_device* device, rk_device_state* out) {
  out->struct_bytes = sizeof *out;
  out->transfer = self(device)->transfer;
  out->arena = self(device)->mirror.data();
  out->arena_bytes = self(device)->mirror.bytes();
  std::snprintf(out->self_test, sizeof out->self_test, "not needed: host threads");
  out->steps_down[0] = '\0';
  out->slices_have_clock = 1;
  out->work_groups = self(device)->work_groups;
  return 0;
}

void close(rk_device* device) { delete self(device); }

int32_t executor_create(rk_device* device, const rk_program_source* program,
                        uint64_t executor_offset, uint32_t work_groups, rk_executor** out) {
  return backend::guarded([&]() -> Result<void> {
    Device& here = *self(device);
    if (work_groups == 0 || work_groups > here.work_groups)
      return Error(Errc::limit_exceeded, std::to_string(work_groups) + " work-groups of " +
                                             std::to_string(here.work_groups));
    RK_TRY(slices, native::HostExecutor::create({here.arena.data(), here.arena.bytes()}, *program,
                                                executor_offset, work_groups));
    slices->start();  // the thread of copies, which launches if sliced, cannot fail
    *out = reinterpret_cast<rk_executor*>(new Executor(here, std::move(slices)));
    return {};
  });
}

void executor_destroy(rk_executor* executor) { delete self(executor); }

int32_t executor_prepare(rk_executor* executor, const rk_program_source* program) {
  return backend::guarded(
      [&]() -> Result<void> { return self(executor)->slices().prepare(*program); });
}

int32_t executor_replace(rk_executor* executor, uint64_t timeout_ns) {
  return backend::guarded(
      [&]() -> Result<void> { return self(executor)->slices().replace(timeout_ns); });
}

int32_t copies_start(rk_device* device, const rk_copy* copies, uint32_t count, uint64_t* ticket) {
  return backend::guarded([&]() -> Result<void> {
    Device& here = *self(device);
    *ticket = here.copies.start(
        [list = std::vector<rk_copy>(copies, copies + count), memory = here.arena.data()] {
          for (const rk_copy& copy : list) CopyEngine::copy(copy, memory);
        });
    return {};
  });
}

int32_t copies_wait(rk_device* device, uint64_t ticket, uint64_t timeout_ns) {
  if (self(device)->copies.wait(ticket, timeout_ns)) return 0;
  return backend::guarded([]() -> Result<void> {
    return error_of(Errc::execution_timeout, "copies have not ended in time");
  });
}

int32_t slice_launch(rk_executor* executor, uint32_t slice) {
  return backend::guarded([&]() -> Result<void> {
    self(executor)->launch(slice);
    return {};
  });
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
    .name = "two_memories",
    .description = "for tests: host threads that have a memory of their own",
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
    .slice_run = nullptr,
    .slice_wait = slice_wait,
    .slice_error = slice_error,
    .last_detail = last_detail,
};

}  // namespace
}  // namespace ringkernel::two_memories

extern "C" __attribute__((visibility("default"))) const rk_backend* rk_backend_query(
    uint32_t host_abi_version) {
  return host_abi_version == RK_BACKEND_ABI_VERSION ? &ringkernel::two_memories::table : nullptr;
}
