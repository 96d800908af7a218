// The OpenCL backend's table. The handles of the C interface are this backend's own objects.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "backend/guard.hpp"
#include "backend/opencl/device.hpp"
#include "backend/opencl/executor.hpp"
#include "backend/opencl/opencl.hpp"
#include "backend/opencl/query.hpp"
#include "backend/opencl/wait_for_driver.hpp"
#include "ringkernel/backend_abi.h"

namespace ringkernel::opencl {

namespace {

using backend::guarded;

constexpr std::chrono::minutes usual_driver_timeout(5);
constexpr std::chrono::seconds usual_end_timeout(60);
/// To find out what there is.
constexpr std::chrono::seconds discovery_timeout(60);
constexpr const char* looking = "looking for devices";

/// How long one device is waited for.
struct Patience {
  std::chrono::nanoseconds driver;
  std::chrono::nanoseconds end;
  std::atomic<bool> is_over{false};  // one end has waited in vain: the others wait no more
};

/// What a handle of the C interface stands for. Threads that wait for the driver share it, and keep
/// it alive where they wait for ever.
struct DeviceHandle {
  std::shared_ptr<ClDevice> device;
  std::shared_ptr<Patience> patience;
};
struct ExecutorHandle {
  DeviceHandle of;  // goes last
  std::shared_ptr<ClExecutor> executor;
};

DeviceHandle& handle(rk_device* device) { return *reinterpret_cast<DeviceHandle*>(device); }
ExecutorHandle& handle(rk_executor* executor) {
  return *reinterpret_cast<ExecutorHandle*>(executor);
}
ClDevice& object(rk_device* device) { return *handle(device).device; }
ClExecutor& object(rk_executor* executor) { return *handle(executor).executor; }

/// The texts of a program, for a thread that nobody may wait for any more.
class KeptProgram {
 public:
  explicit KeptProgram(const rk_program_source& program)
      : name_(program.name), device_text_(program.device_text), program_(program) {}
  [[nodiscard]] rk_program_source source() const {
    rk_program_source source = program_;
    source.name = name_.c_str();
    source.device_text = device_text_.c_str();
    source.hosted_text = nullptr;
    source.compiled = nullptr;
    return source;
  }

 private:
  std::string name_;
  std::string device_text_;
  rk_program_source program_;
};

/// Ends what `end` owns, on a thread that may wait for the driver.
template <class End>
void end_in_time(Patience& patience, const char* what, End end) noexcept {
  // relaxed: it stands alone
  const bool is_over = patience.is_over.load(std::memory_order_relaxed);
  const std::chrono::nanoseconds left = is_over ? std::chrono::nanoseconds(0) : patience.end;
  try {
    if (!wait_for_driver(what, left, end))
      patience.is_over.store(true, std::memory_order_relaxed);  // as above
  } catch (const std::bad_alloc&) {
    (void)end();  // no memory for a thread: ending needs none
  }
}

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

/// Looks for devices, by a thread that may wait for a driver. Where one was waited for in vain,
/// those who come behind do not wait again.
Result<const Discovery*> find_all() {
  static std::atomic<const Discovery*> known{nullptr};
  static std::atomic<bool> is_late{false};  // stands alone
  // acquire: what was found; pairs with the release below
  if (const Discovery* found = known.load(std::memory_order_acquire)) return found;
  const auto look = []() -> Result<const Discovery*> {
    const Discovery* const found = &discover();
    // release: pairs with the acquire above
    if (found->is_final()) known.store(found, std::memory_order_release);
    return found;
  };
  if (is_late.load(std::memory_order_relaxed)) return stuck_error(looking, DriverCall());
  Result<const Discovery*> found = wait_for_driver(looking, discovery_timeout, look);
  if (!found && found.error() == Errc::execution_timeout)
    is_late.store(true, std::memory_order_relaxed);
  return found;
}

Result<const FoundDevice*> find_device(uint32_t device) {
  if (was_used_before_fork()) return Error(Errc::backend_unavailable, in_use_before_fork);
  RK_TRY(all, find_all());
  if (!load_library().api.has_value()) return load_library().api.error();
  const Discovery& found = *all;
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
    RK_TRY(all, find_all());
    for (const FoundDevice& device : all->devices) {
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
    RK_TRY(all, find_all());
    *count = static_cast<uint32_t>(all->devices.size());
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
    RK_TRY(all, find_all());
    const Library& library = load_library();
    for (const std::string& tried : library.tried) line(context, ("library " + tried).c_str());
    if (!library.api.has_value()) return {};
    for (const std::string& failure : all->failures) line(context, failure.c_str());
    for (const std::string& broken : broken_drivers()) line(context, broken.c_str());
    return {};
  });
}

std::chrono::nanoseconds timeout_or(uint64_t timeout_ns, std::chrono::nanoseconds usual) {
  return timeout_ns != 0 ? as_duration(timeout_ns) : usual;
}

int32_t open(uint32_t device, const rk_device_options* options, rk_device** out) {
  return guarded([&]() -> Result<void> {
    RK_TRY(found, find_device(device));
    auto patience = std::make_shared<Patience>();
    patience->driver = timeout_or(options->driver_timeout_ns, usual_driver_timeout);
    patience->end = timeout_or(options->end_timeout_ns, usual_end_timeout);
    auto opened = std::make_unique<DeviceHandle>();
    const auto work = [found, options = *options]() -> Result<std::shared_ptr<ClDevice>> {
      RK_TRY(made, ClDevice::open(*found, options));
      return std::shared_ptr<ClDevice>(std::move(made));
    };
    RK_TRY(made, wait_for_driver("opening the device", patience->driver, work));
    *opened = {std::move(made), std::move(patience)};
    *out = reinterpret_cast<rk_device*>(opened.release());
    return {};
  });
}

int32_t state(rk_device* device, rk_device_state* out) {
  copy_out(object(device).state(), out);
  return 0;
}

void close(rk_device* device) {
  const std::shared_ptr<Patience> patience = handle(device).patience;
  end_in_time(*patience, "closing the device", [closed = &handle(device)]() -> Result<void> {
    const Residency::Hold hold(closed->device->found().residency_to_hold());
    delete closed;
    return {};
  });
}

int32_t executor_create(rk_device* device, const rk_program_source* program,
                        uint64_t executor_offset, uint32_t work_groups, rk_executor** out) {
  return guarded([&]() -> Result<void> {
    const DeviceHandle& of = handle(device);
    const auto work = [of, program = KeptProgram(*program), executor_offset,
                       work_groups]() -> Result<std::unique_ptr<ExecutorHandle>> {
      auto made = std::make_unique<ExecutorHandle>();
      made->of = of;
      RK_TRY(executor,
             ClExecutor::create(*of.device, program.source(), executor_offset, work_groups));
      made->executor = std::move(executor);
      return made;
    };
    RK_TRY(made, wait_for_driver("building a program", of.patience->driver, work));
    *out = reinterpret_cast<rk_executor*>(made.release());
    return {};
  });
}

void executor_destroy(rk_executor* executor) {
  const std::shared_ptr<Patience> patience = handle(executor).of.patience;
  end_in_time(*patience, "ending a program", [ended = &handle(executor)]() -> Result<void> {
    const Residency::Hold hold(ended->of.device->found().residency_to_hold());
    delete ended;
    return {};
  });
}

int32_t executor_prepare(rk_executor* executor, const rk_program_source* program) {
  return guarded([&] {
    return wait_for_driver("building a program", handle(executor).of.patience->driver,
                           [kept = handle(executor), program = KeptProgram(*program)] {
                             return kept.executor->prepare(program.source());
                           });
  });
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
