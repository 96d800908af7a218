// The native backend's table: one device, the host itself.
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include "backend/guard.hpp"
#include "backend/native/executor.hpp"
#include "backend/native/memory.hpp"
#include "backend/native/native.hpp"
#include "backend/native/programs.hpp"
#include "foundation/align.hpp"
#include "foundation/memory_error.hpp"
#include "ringkernel/backend_abi.h"
#include "ringkernel/protocol/control_block.h"

namespace ringkernel::native {
namespace {

/// The host works on the device's memory.
struct HostDevice {
  uint32_t work_groups;
  Memory arena;
};

// The ABI's handle types stay incomplete: each backend casts them to its own at this seam.
HostDevice* self(rk_device* device) { return reinterpret_cast<HostDevice*>(device); }
HostExecutor* self(rk_executor* executor) { return reinterpret_cast<HostExecutor*>(executor); }

int32_t score() { return 10; }

int32_t device_count(uint32_t* count) {
  *count = 1;
  return 0;
}

uint64_t memory_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
}

/// Memory of an arena is taken when it is first used, so without this any size could be had, and
/// the process would be killed later. A container's limit, or what others use, is not in it.
Result<void> check_room(uint64_t arena_bytes) {
  struct sysinfo host {};
  if (::sysinfo(&host) != 0) return {};  // a filter of system calls: then the system decides
  const uint64_t memory = uint64_t{host.totalram} * host.mem_unit;
  const uint64_t swap = uint64_t{host.totalswap} * host.mem_unit;
  if (arena_bytes <= memory + swap) return {};
  return Error(Errc::allocation_failure, "arena_bytes is " + std::to_string(arena_bytes) +
                                             "; this host has " + std::to_string(memory) +
                                             " bytes of memory and " + std::to_string(swap) +
                                             " of swap");
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
    if (options->transfer > RK_TRANSFER_ZERO_COPY)
      return Error(Errc::backend_unavailable,
                   "the native backend works in the process's own memory: it has no strategy but "
                   "zero_copy");
    RK_TRY_VOID(check_room(options->arena_bytes));
    RK_TRY(arena, Memory::map("an arena", align_up<uint64_t>(options->arena_bytes, 4096)));
    *out = reinterpret_cast<rk_device*>(new HostDevice{
        .work_groups = std::clamp(options->work_groups, 1u, RK_WORK_GROUPS_MAX),
        .arena = std::move(arena),
    });
    return {};
  });
}

int32_t state(rk_device* device, rk_device_state* out) {
  out->struct_bytes = sizeof *out;
  out->transfer = RK_TRANSFER_ZERO_COPY;
  out->arena = self(device)->arena.data();
  out->arena_bytes = self(device)->arena.bytes();
  std::snprintf(out->self_test, sizeof out->self_test, "not needed: host memory");
  out->steps_down[0] = '\0';
  out->slices_have_clock = 1;
  out->work_groups = self(device)->work_groups;
  return 0;
}

int32_t executor_prepare(rk_executor* executor, const rk_program_source* program) {
  return backend::guarded([&]() -> Result<void> { return self(executor)->prepare(*program); });
}

int32_t executor_replace(rk_executor* executor, uint64_t timeout_ns) {
  return backend::guarded([&]() -> Result<void> { return self(executor)->replace(timeout_ns); });
}

int32_t copies_start(rk_device*, const rk_copy*, uint32_t, uint64_t*) {
  return backend::guarded([]() -> Result<void> {
    return Error(Errc::unsupported_operation, "zero_copy copies nothing");
  });
}

int32_t copies_wait(rk_device* device, uint64_t, uint64_t) {
  return copies_start(device, nullptr, 0, nullptr);
}

void close(rk_device* device) { delete self(device); }

int32_t executor_create(rk_device* device, const rk_program_source* program,
                        uint64_t executor_offset, uint32_t work_groups, rk_executor** out) {
  return backend::guarded([&]() -> Result<void> {
    if (work_groups == 0 || work_groups > self(device)->work_groups)
      return Error(Errc::limit_exceeded, std::to_string(work_groups) + " work-groups of " +
                                             std::to_string(self(device)->work_groups));
    const Memory& arena = self(device)->arena;
    RK_TRY(executor, HostExecutor::create({arena.data(), arena.bytes()}, *program, executor_offset,
                                          work_groups));
    *out = reinterpret_cast<rk_executor*>(executor.release());
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
