#include "runtime/runtime_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "foundation/leave_behind.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"
#include "foundation/timeout.hpp"
#include "http/address.hpp"
#include "http/server.hpp"
#include "observe/logger.hpp"
#include "observe/publisher.hpp"
#include "runtime/kernel_state.hpp"
#include "telemetry/metrics.hpp"
#include "telemetry/reading.hpp"
#include "telemetry/utf8.hpp"

namespace ringkernel::detail {

namespace {

/// With a copy between host and device.
constexpr std::chrono::minutes copy_timeout_max(1);

/// Why it can be no ring kernel's id; empty: it can.
std::string fault_of_id(std::string_view id) {
  if (id.empty() || id.size() > kernel_id_length_max)
    return "an id has 1 to " + std::to_string(kernel_id_length_max) + " bytes, this one " +
           std::to_string(id.size());
  if (!telemetry::is_utf8(id)) return "an id is UTF-8, this one is not";
  if (id.find('\0') != std::string_view::npos) return "an id has no NUL, this one has";
  return {};
}

}  // namespace

std::string fault_of_name(std::string_view name) {
  if (name.size() > runtime_name_length_max)
    return "a runtime's name has at most " + std::to_string(runtime_name_length_max) +
           " bytes, this one " + std::to_string(name.size());
  if (!telemetry::is_utf8(name)) return "a runtime's name is UTF-8, this one is not";
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return "a runtime's name has no controls, this one has";
  return {};
}

RuntimeState::RuntimeState(const RuntimeOptions& options, std::string backend_name,
                           const rk_device_description& description, backend::OpenDevice device,
                           const rk_device_state& device_state)
    : options_(options),
      backend_name_(std::move(backend_name)),
      device_name_(description.name),
      work_groups_max_(description.work_groups_max),
      work_items_max_(description.work_items_max),
      publishes_(options.telemetry),
      opened_(device_state),
      memory_(std::make_unique<DeviceMemory>(
          std::move(device), static_cast<std::byte*>(device_state.arena), device_state.transfer,
          std::min<std::chrono::nanoseconds>(options.driver_timeout, copy_timeout_max))),
      arena_(std::in_place, static_cast<std::byte*>(device_state.arena), device_state.arena_bytes),
      tensors_(std::in_place, *arena_,
               description.kind == RK_DEVICE_KIND_GPU ? BackendTarget::gpu : BackendTarget::cpu,
               memory_->is_shared() ? nullptr : memory_.get()),
      functions_(options.functions_cached_max, options.function_cache_bytes_max),
      bridge_(clock_),
      service_(std::make_unique<ServiceThread>()),
      worker_(std::make_unique<ServiceThread>()) {
  arena_->hold_while([this] { return memory_->has_late_copies(); });
}

void RuntimeState::start(std::shared_ptr<LogSink> log) {
  bridge_.start();
  start_telemetry();
  if (log != nullptr) start_log(std::move(log));
}

RuntimeState::~RuntimeState() {
  (void)shutdown();
  if (is_left_) leave_behind(memory_);  // what was under way may still use it
}

void RuntimeState::start_telemetry() {
  if (!publishes_) {
    if (!options_.http_address.empty())
      telemetry_failure_ = "HTTP shows what telemetry publishes, which is off";
    return;
  }
  Result<std::unique_ptr<Publisher>> publisher =
      Publisher::create(*this, options_.telemetry_period);
  if (!publisher) {
    telemetry_failure_ = publisher.error().detail;  // a service runs without
    return;
  }
  publisher_ = std::move(*publisher);
  telemetry_file_ = publisher_->path().string();
  start_http();
  if (options_.latency_sampling != 0) clock_.start();
  publisher_->begin();
  // Not `service_`, which the end takes away while the thread is still there.
  service_->repeat(options_.telemetry_period,
                   [this, service = service_.get()] { publisher_->publish(service); });
  service_->start();  // it looks at all of the above
}

void RuntimeState::start_http() {
  if (options_.http_address.empty()) return;
  Result<std::unique_ptr<http::Server>> server = http::Server::open(
      service_->context(), http::parse_address(options_.http_address).value(), telemetry_file_);
  if (!server) {
    telemetry_failure_ = server.error().detail;
    return;
  }
  http_ = std::move(*server);
  http_address_ = http_->address();
}

void RuntimeState::start_log(std::shared_ptr<LogSink> sink) {
  const std::string runtime =
      telemetry_file_.empty() ? std::to_string(getpid()) : telemetry::name_of(telemetry_file_);
  logger_ = std::make_shared<Logger>(*worker_, std::move(sink), runtime, options_.name);
  events_.add(logger_);
  logger_->tell(LogLevel::info, "opened '" + device_name_ + "', " + backend_name_ + ", " +
                                    backend::transfer_name(opened_.transfer));
  if (!telemetry_failure_.empty()) logger_->tell(LogLevel::error, telemetry_failure_);
  if (!http_address_.empty()) logger_->tell(LogLevel::info, "HTTP at " + http_address_);
  worker_->repeat(log_repeat_period, [logger = logger_] { logger->tell_left_out(); });
  worker_->start();
}

std::uint64_t RuntimeState::deadline_ns(std::chrono::nanoseconds timeout) const noexcept {
  return clock_.now_ns() + bounded_ns(timeout);
}

void RuntimeState::note(std::string_view kernel, const Error& error) noexcept {
  if (error.code == boost::asio::error::operation_aborted) return;
  kernel = kernel.substr(0, kernel_id_length_max);
  const std::uint64_t now_ns = clock_.coarse_ns();
  errors_.note(kernel, error, now_ns);
  if (!events_.has_listeners()) return;
  const bool is_told = with_memory([&] {
    events_.emit({.kernel = std::string(kernel), .status = {}, .error = error, .time_ns = now_ns});
  });
  if (!is_told) events_.miss();
}

void RuntimeState::take_trace(std::vector<TraceEvent>& events) {
  if (const std::unique_lock lock(programs_mutex_, std::try_to_lock); lock.owns_lock())
    for (const auto& [name, program] : programs_)
      if (program) program->note_parked();
  trace_.take(events);
}

void RuntimeState::changed(const std::string& kernel, KernelStatus status) noexcept {
  if (publishes_) {
    const std::uint64_t now_ns = clock_.now_ns();
    trace_.keep(TraceEvent::of(TraceKind::state, static_cast<std::uint64_t>(status), now_ns, now_ns,
                               kernel));
  }
  if (!events_.has_listeners()) return;
  const bool is_told = with_memory([&] {
    events_.emit({.kernel = kernel, .status = status, .error = {}, .time_ns = clock_.coarse_ns()});
  });
  if (!is_told) events_.miss();
}

Result<std::shared_ptr<KernelState>> RuntimeState::launch(std::string_view id,
                                                          const KernelOptions& options) {
  if (std::string fault = fault_of_id(id); !fault.empty())
    return Error(Errc::invalid_argument, std::move(fault));
  RK_TRY_VOID(KernelState::check(options));
  auto kernel = std::make_shared<KernelState>(shared_from_this(), std::string(id), options);
  {
    const std::lock_guard lock(registry_mutex_);
    if (closed_) return Error(Errc::runtime_closed, "launch of '" + std::string(id) + "'");
    if (restarting_) return Error(Errc::busy, "a program is being restarted");
    std::erase_if(kept_, [](const auto& kept) { return kept->try_give_back(); });
    if (!kernels_.emplace(id, kernel).second)
      return Error(Errc::kernel_exists, "'" + std::string(id) + "'");
    ++launching_;
  }
  // Whatever becomes of it; then the program may go.
  const ScopeGuard ended([this]() noexcept { end_launching(); });
  std::shared_lock<std::shared_mutex> not_swapped;  // until it is as it is to be
  {
    ScopeGuard forgetting([&]() noexcept { forget(*kernel); });
    RK_TRY(program_of_kernel, program(options.program));
    not_swapped = std::shared_lock(program_of_kernel->launches());
    RK_TRY_VOID(kernel->open(*program_of_kernel));
    forgetting.dismiss();
  }
  const bool is_left = [this] {
    const std::lock_guard lock(registry_mutex_);
    return is_left_;
  }();
  if (is_left) {  // shutdown did not wait for it
    (void)kernel->lifecycle().terminate({}, make_error_code(Errc::runtime_closed));
    return Error(Errc::runtime_closed, "launch of '" + std::string(id) + "'");
  }
  if (options.auto_activate) {
    if (Result<void> activated = kernel->lifecycle().activate(); !activated) {
      (void)kernel->lifecycle().terminate({}, activated.error());
      return std::move(activated).error();
    }
  }
  return kernel;
}

void RuntimeState::end_launching() noexcept {
  {
    const std::lock_guard lock(registry_mutex_);
    --launching_;
  }
  launched_.notify_all();
}

bool RuntimeState::wait_for_launches(std::unique_lock<std::mutex>& lock) {
  return launched_.wait_for(lock,
                            std::chrono::nanoseconds(bounded_ns(options_.termination_timeout)),
                            [this] { return launching_ == 0; });
}

bool RuntimeState::post_build(std::function<void()> build) {
  const std::lock_guard lock(registry_mutex_);  // shutdown waits for builds behind "closed"
  if (closed_) return false;
  try {
    worker_->start();
  } catch (const std::system_error&) {  // for whoever asks it is the same: perhaps later
    throw std::bad_alloc();
  }
  boost::asio::post(worker_->context(), [this, build = std::move(build)] {
    build();
    const std::lock_guard over(registry_mutex_);
    --builds_;
    launched_.notify_all();
  });
  ++builds_;
  return true;
}

void RuntimeState::wait_for_builds() noexcept {
  std::unique_lock lock(registry_mutex_);
  launched_.wait(lock, [this] { return builds_ == 0; });
}

void RuntimeState::end_services() noexcept {
  service_.reset();  // the end of its context closes what HTTP has open
  http_.reset();
  publisher_.reset();
  events_.close();
  std::shared_ptr<Logger> logger;  // the sink goes without a lock
  {
    const std::lock_guard lock(registry_mutex_);  // a swap may be under way that nobody waited for
    logger = std::move(logger_);
  }
  if (!is_left_) {
    if (logger) logger->end();
    if (worker_) worker_->finish();
  } else {
    if (logger) logger->end_here();
    leave_behind(worker_);  // it may be in the driver
  }
  worker_.reset();
}

std::shared_ptr<KernelState> RuntimeState::find(std::string_view id) const {
  const std::lock_guard lock(registry_mutex_);
  const auto found = kernels_.find(id);
  if (found == kernels_.end() || found->second->status() == KernelStatus::created) return nullptr;
  return found->second;
}

std::vector<std::string> RuntimeState::ids() const {
  const std::lock_guard lock(registry_mutex_);
  std::vector<std::string> ids;
  for (const auto& [id, kernel] : kernels_) ids.push_back(id);
  return ids;
}

void RuntimeState::forget(const KernelState& kernel) noexcept {
  std::shared_ptr<KernelState> last;  // goes after the lock
  const std::lock_guard lock(registry_mutex_);
  const auto found = kernels_.find(kernel.id());
  if (found == kernels_.end() || found->second.get() != &kernel) return;
  last = std::move(found->second);
  kernels_.erase(found);
}

void RuntimeState::keep(std::shared_ptr<KernelState> kernel) {
  const std::lock_guard lock(registry_mutex_);
  kept_.push_back(std::move(kernel));
}

Result<TensorId> RuntimeState::allocate(const TensorDesc& desc) {
  Result<TensorId> id = tensors_->allocate(desc);
  if (id || !(id.error() == Errc::allocation_failure)) return id;
  (void)bridge_.serve_channels(bridge::Bridge::Drain::all);
  return tensors_->allocate(desc);
}

std::string RuntimeState::device_limits() const {
  return "'" + device_name_ + "' keeps up to " + std::to_string(work_groups_max_) +
         " work-groups of an executor resident, with up to " + std::to_string(work_items_max_) +
         " work-items each; here an executor has " + std::to_string(opened_.work_groups);
}

std::vector<std::shared_ptr<KernelState>> RuntimeState::kernels() const {
  std::vector<std::shared_ptr<KernelState>> kernels;
  {
    const std::lock_guard lock(registry_mutex_);
    for (const auto& [id, kernel] : kernels_) kernels.push_back(kernel);
  }
  // Whoever copies with the state lock does not keep this waiting.
  std::erase_if(kernels,
                [](const auto& kernel) { return kernel->status() == KernelStatus::created; });
  return kernels;
}

std::vector<std::shared_ptr<ObservedKernel>> RuntimeState::observed_kernels() const {
  const auto all = kernels();
  return {all.begin(), all.end()};
}

RuntimeMetrics RuntimeState::metrics() const {
  RuntimeMetrics metrics = own_metrics();
  const std::lock_guard lock(programs_mutex_);
  add_programs(metrics);
  return metrics;
}

std::optional<RuntimeMetrics> RuntimeState::try_metrics() const {
  RuntimeMetrics metrics = own_metrics();
  const std::unique_lock lock(programs_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;
  add_programs(metrics);
  return metrics;
}

RuntimeMetrics RuntimeState::own_metrics() const {
  RuntimeMetrics metrics;
  metrics.name = options_.name;
  metrics.backend = backend_name_;
  metrics.device = device_name_;
  metrics.transfer = backend::transfer_name(opened_.transfer);
  metrics.work_groups = opened_.work_groups;
  metrics.kernels = ids().size();
  metrics.arena_bytes = arena_->bytes();
  const Arena::Usage usage = arena_->usage();
  metrics.arena_free_bytes = usage.free_bytes;
  metrics.arena_largest_free_bytes = usage.largest_free_bytes;
  metrics.arena_fragmentation_score = usage.fragmentation_score();
  metrics.tensors = tensors_->count();
  metrics.tensor_bytes = tensors_->bytes();
  functions_.add_to(metrics);
  const ErrorLog::Counts errors = errors_.counts();
  metrics.latency_sampling = sample_every();
  metrics.errors = errors.all;
  metrics.errors_missing = errors.missing;
  return metrics;
}

void RuntimeState::add_programs(RuntimeMetrics& metrics) const {
  metrics.slices = ended_programs_.slices;
  metrics.copies = ended_programs_.copies;
  metrics.copied_bytes = ended_programs_.copied_bytes;
  for (const auto& [name, program] : programs_) {
    if (!program) continue;
    ++metrics.executors;
    program->add_to(metrics);
  }
  if (memory_) {  // not shut down
    metrics.telemetry_file = telemetry_file_;
    metrics.http_address = http_address_;
    metrics.telemetry_failure = telemetry_failure_;
    if (const Result<rk_device_state> device = memory_->device().state(); device) {
      metrics.program_cache_hits = device->program_cache_hits;
      metrics.program_cache_misses = device->program_cache_misses;
      metrics.program_cache_rejected = device->program_cache_rejected;
    }
  }
}

Result<void> RuntimeState::restart(std::string_view name) {
  const std::lock_guard one_at_a_time(shutdown_mutex_);
  const Error reason(Errc::kernel_terminated, "program '" + std::string(name) + "' was restarted");
  std::shared_ptr<KernelState> first;
  {
    std::unique_lock lock(registry_mutex_);
    if (closed_) return Error(Errc::runtime_closed, "restart of '" + std::string(name) + "'");
    restarting_ = true;
    if (!wait_for_launches(lock)) {
      restarting_ = false;
      return Error(Errc::execution_timeout,
                   "a launch, or another build of a program, has not ended; restart it once more");
    }
    for (auto next = kernels_.rbegin(); next != kernels_.rend(); ++next) {
      if (next->second->program().name() != name) continue;
      next->second->next_ending_ = std::move(first);
      first = next->second;
    }
  }
  const ScopeGuard restarted([this]() noexcept {
    const std::lock_guard lock(registry_mutex_);
    restarting_ = false;
  });
  // One that does not obey is kept; what counts is whether the slices return.
  (void)terminate_all(std::move(first), reason);
  return end_program(name);
}

Result<void> RuntimeState::terminate_all(std::shared_ptr<KernelState> first,
                                         const Error& reason) noexcept {
  bridge::WatchList watches;
  for (KernelState* kernel = first.get(); kernel != nullptr; kernel = kernel->next_ending_.get())
    if (auto watch = kernel->lifecycle().start_terminate({}, reason, nullptr))
      watches.push(std::move(watch));
  Lifecycle::drive(std::move(watches), clock_);
  Result<void> result;
  while (first != nullptr) {  // also those that somebody else is terminating
    Result<void> ended = first->lifecycle().terminate({}, reason);
    if (!ended) result = std::move(ended);
    std::shared_ptr<KernelState> next = std::move(first->next_ending_);
    first = std::move(next);
  }
  return result;
}

Result<void> RuntimeState::shutdown() noexcept {
  const std::lock_guard shutting_down(shutdown_mutex_);
  std::shared_ptr<KernelState> first;
  {
    std::unique_lock lock(registry_mutex_);
    closed_ = true;
    is_left_ |= !wait_for_launches(lock);
    for (auto next = kernels_.rbegin(); next != kernels_.rend(); ++next) {
      if (is_left_ && next->second->status() == KernelStatus::created) continue;  // ends by itself
      next->second->next_ending_ = std::move(first);
      first = next->second;
    }
  }
  Result<void> result = terminate_all(std::move(first), make_error_code(Errc::runtime_closed));
  functions_.close();  // their kernels have ended
  if (!is_left_) wait_for_builds();
  bridge_.stop();
  end_services();
  std::vector<std::shared_ptr<KernelState>> kept;  // they share this, and go behind it
  {
    const std::lock_guard lock(registry_mutex_);
    kept.swap(kept_);
  }
  tensors_->close();
  const std::lock_guard lock(programs_mutex_);
  const std::uint64_t deadline_ns = this->deadline_ns(options_.termination_timeout);
  bool returned = !is_left_;
  if (is_left_)
    result = error_of(Errc::execution_timeout,
                      "a launch, or another build of a program, has not "
                      "ended; the device is left to it");
  for (const auto& entry : programs_) {
    if (!entry.second) continue;
    const std::uint64_t now_ns = clock_.now_ns();  // together they take no longer than one
    const std::uint64_t left_ns = deadline_ns - std::min(now_ns, deadline_ns);
    Result<void> stopped = or_no_memory([&] { return entry.second->executor().stop(left_ns); });
    if (stopped) continue;
    result = std::move(stopped);
    returned = false;
  }
  if (!returned) {
    // A slice that does not return still works on the arena: it must outlive it.
    for (auto& [name, program] : programs_) leave_behind(program);
    if (is_left_) return result;  // what is under way asks for the memory
    arena_->hold_while({});
    leave_behind(memory_);
  }
  arena_->hold_while({});  // nobody is given any of it any more, and the memory goes
  for (const auto& [name, program] : programs_)
    if (program) program->add_to(ended_programs_);
  programs_.clear();
  memory_.reset();
  return result;
}

}  // namespace ringkernel::detail
