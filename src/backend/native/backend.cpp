// The native backend's table: one device, the host itself.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "backend/guard.hpp"
#include "backend/native/executor.hpp"
#include "backend/native/native.hpp"
#include "foundation/align.hpp"
#include "ringkernel/backend_abi.h"

namespace ringkernel::native {
namespace {

struct Device {
  Arena arena;

  explicit Device(Arena memory) : arena(memory) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { munmap(arena.data, arena.bytes); }
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
    void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
      return Error(Errc::allocation_failure,
                   "an arena of " + std::to_string(bytes) + " bytes could not be mapped");
    *out = reinterpret_cast<rk_device*>(new Device({static_cast<std::byte*>(data), bytes}));
    return {};
  });
}

int32_t state(rk_device* device, rk_device_state* out) {
  out->struct_bytes = sizeof *out;
  out->transfer = RK_TRANSFER_ZERO_COPY;
  out->arena = self(device)->arena.data;
  out->arena_bytes = self(device)->arena.bytes;
  std::snprintf(out->self_test, sizeof out->self_test, "not needed: host memory");
  return 0;
}

void close(rk_device* device) { delete self(device); }

int32_t executor_create(rk_device* device, const char* program, uint64_t executor_offset,
                        rk_executor** out) {
  return backend::guarded([&]() -> Result<void> {
    const SliceFunction function = find_program(program);
    if (function == nullptr)
      return Error(Errc::program_not_found,
                   std::string("'") + program + "'; the native backend has: core, echo");
    *out = reinterpret_cast<rk_executor*>(
        new Executor(self(device)->arena, function, executor_offset));
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
  return backend::fail(Errc::execution_timeout, "a slice did not return in time");
}

int32_t slice_error(rk_executor*) { return 0; }

const char* last_detail() { return backend::last_detail_text().c_str(); }

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
