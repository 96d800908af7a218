// The OpenCL backend's table. The handles of the C interface are this backend's own objects.
#include <algorithm>
#include <cstring>
#include <limits>

#include "backend/guard.hpp"
#include "backend/opencl/device.hpp"
#include "backend/opencl/executor.hpp"
#include "backend/opencl/opencl.hpp"
#include "backend/opencl/query.hpp"
#include "ringkernel/backend_abi.h"

namespace ringkernel::opencl {

namespace {

using backend::guarded;

Device& object(rk_device* device) { return *reinterpret_cast<Device*>(device); }
Executor& object(rk_executor* executor) { return *reinterpret_cast<Executor*>(executor); }

/// Fills what the caller knows of a struct that grows at its end.
template <class Struct>
void copy_out(const Struct& from, Struct* out) {
  const std::size_t bytes = std::min<std::size_t>(out->struct_bytes, sizeof from);
  std::memcpy(out, &from, bytes);
  out->struct_bytes = static_cast<uint32_t>(bytes);
}

std::chrono::nanoseconds as_duration(uint64_t timeout_ns) {
  constexpr uint64_t longest = std::numeric_limits<int64_t>::max() / 2;
  return std::chrono::nanoseconds(static_cast<int64_t>(std::min(timeout_ns, longest)));
}

constexpr const char* in_use_before_fork =
    "in use before fork: a driver's threads are the parent's; a child has to exec first";

Result<const FoundDevice*> find_device(uint32_t device) {
  if (was_used_before_fork()) return Error(Errc::backend_unavailable, in_use_before_fork);
  if (!load_library().api.has_value()) return load_library().api.error();
  const Discovery& found = discover();
  if (device < found.devices.size()) return &found.devices[device];
  std::string text =
      "device " + std::to_string(device) + " of " + std::to_string(found.devices.size());
  for (const std::string& failure : found.failures) text += "; " + failure;
  return Error(found.devices.empty() ? Errc::backend_unavailable : Errc::invalid_argument,
               std::move(text));
}

int32_t score() {
  int32_t best = 0;
  if (was_used_before_fork()) return best;
  guarded([&]() -> Result<void> {
    for (const FoundDevice& device : discover().devices) {
      if (device.description.transfer == RK_TRANSFER_NONE) continue;
      best = std::max(best, device.description.kind == RK_DEVICE_KIND_GPU ? 30 : 20);
    }
    return {};
  });
  return best;
}

int32_t device_count(uint32_t* count) {
  *count = 0;
  return guarded([&]() -> Result<void> {
    if (was_used_before_fork()) return {};
    *count = static_cast<uint32_t>(discover().devices.size());
    return {};
  });
}

int32_t describe(uint32_t device, rk_device_description* out) {
  return guarded([&]() -> Result<void> {
    RK_TRY(found, find_device(device));
    copy_out(found->description, out);
    return {};
  });
}

int32_t report(void (*line)(void* context, const char* text), void* context) {
  return guarded([&]() -> Result<void> {
    if (was_used_before_fork()) {
      line(context, in_use_before_fork);
      return {};
    }
    const Library& library = load_library();
    for (const std::string& tried : library.tried) line(context, ("library " + tried).c_str());
    if (!library.api.has_value()) return {};
    for (const std::string& failure : discover().failures) line(context, failure.c_str());
    for (const std::string& broken : broken_drivers()) line(context, broken.c_str());
    return {};
  });
}

int32_t open(uint32_t device, const rk_device_options* options, rk_device** out) {
  return guarded([&]() -> Result<void> {
    RK_TRY(found, find_device(device));
    RK_TRY(opened, Device::open(*found, *options));
    *out = reinterpret_cast<rk_device*>(opened.release());
    return {};
  });
}

int32_t state(rk_device* device, rk_device_state* out) {
  copy_out(object(device).state(), out);
  return 0;
}

void close(rk_device* device) {
  const Residency::Hold hold(object(device).found().residency_to_hold());
  delete &object(device);
}

int32_t executor_create(rk_device* device, const rk_program_source* program,
                        uint64_t executor_offset, uint32_t work_groups, rk_executor** out) {
  return guarded([&]() -> Result<void> {
    RK_TRY(executor, Executor::create(object(device), *program, executor_offset, work_groups));
    *out = reinterpret_cast<rk_executor*>(executor.release());
    return {};
  });
}

void executor_destroy(rk_executor* executor) {
  const Residency::Hold hold(object(executor).device().found().residency_to_hold());
  delete &object(executor);
}

int32_t executor_prepare(rk_executor* executor, const rk_program_source* program) {
  return guarded([&] { return object(executor).prepare(*program); });
}

int32_t executor_replace(rk_executor* executor, uint64_t timeout_ns) {
  return guarded([&] { return object(executor).replace(as_duration(timeout_ns)); });
}

int32_t copies_start(rk_device* device, const rk_copy* copies, uint32_t count, uint64_t* ticket) {
  return guarded([&]() -> Result<void> {
    RK_TRY(started, object(device).start_copies({copies, count}));
    *ticket = started;
    return {};
  });
}

int32_t copies_wait(rk_device* device, uint64_t ticket, uint64_t timeout_ns) {
  return guarded([&] { return object(device).copies().wait(ticket, as_duration(timeout_ns)); });
}

int32_t slice_launch(rk_executor* executor, uint32_t slice) {
  return guarded([&] { return object(executor).launch(slice); });
}

int32_t slice_wait(rk_executor* executor, uint64_t timeout_ns) {
  return guarded([&] { return object(executor).wait(as_duration(timeout_ns)); });
}

int32_t slice_error(rk_executor* executor) {
  return guarded([&] { return object(executor).error(); });
}

const char* last_detail() { return backend::last_detail_text(); }

constexpr rk_backend table = {
    .abi_version = RK_BACKEND_ABI_VERSION,
    .struct_bytes = sizeof(rk_backend),
    .name = "opencl",
    .description = "OpenCL devices from 1.2 on, through the system's loader",
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

}  // namespace ringkernel::opencl

const rk_backend* rk_backend_opencl(uint32_t host_abi_version) {
  return host_abi_version == RK_BACKEND_ABI_VERSION ? &ringkernel::opencl::table : nullptr;
}
