#include "runtime/runtime_state.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "foundation/leave_behind.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"
#include "foundation/timeout.hpp"
#include "runtime/kernel_state.hpp"
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
      reporting_(options_, clock_),
      opened_(device_state),
      memory_(std::make_unique<DeviceMemory>(
          std::move(device), static_cast<std::byte*>(device_state.arena), device_state.transfer,
          std::min<std::chrono::nanoseconds>(options.driver_timeout, copy_timeout_max))),
      arena_(std::in_place, static_cast<std::byte*>(device_state.arena), device_state.arena_bytes),
      tensors_(std::in_place, *arena_,
               description.kind == RK_DEVICE_KIND_GPU ? BackendTarget::gpu : BackendTarget::cpu,
               memory_->is_shared() ? nullptr : memory_.get()),
      functions_(options.functions_cached_max, options.function_cache_bytes_max),
      bridge_(clock_) {
  arena_->hold_while([this] { return memory_->has_late_copies(); });
  programs_.emplace(ProgramTable::Place{.memory = *memory_,
                                        .arena = *arena_,
                                        .bridge = bridge_,
                                        .clock = clock_,
                                        .options = options_,
                                        .opened = opened_,
                                        .trace = reporting_.trace()});
}

void RuntimeState::start(std::shared_ptr<LogSink> log) {
  bridge_.start();
  reporting_.start(*this, std::move(log),
                   "opened '" + device_name_ + "', " + backend_name_ + ", " +
                       backend::transfer_name(opened_.transfer));
}

RuntimeState::~RuntimeState() {
  (void)shutdown();
  if (is_left_) leave_behind(memory_);  // what was under way may still use it
}

std::uint64_t RuntimeState::deadline_ns(std::chrono::nanoseconds timeout) const noexcept {
  return clock_.now_ns() + bounded_ns(timeout);
}

void RuntimeState::take_trace(std::vector<TraceEvent>& events) {
  programs_->note_parked();
  reporting_.take_trace(events);
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
    RK_TRY(program_of_kernel, programs_->get(options.program));
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

Result<ProgramInfo> RuntimeState::add_program(const ProgramDesc& desc) {
  {
    const std::lock_guard lock(registry_mutex_);
    if (closed_) return Error(Errc::runtime_closed, "program '" + desc.name + "'");
    ++launching_;
  }
  const ScopeGuard ended([this]() noexcept { end_launching(); });
  return programs_->add(desc);
}

bool RuntimeState::post_build(std::function<void()> build) {
  const std::lock_guard lock(registry_mutex_);  // shutdown waits for builds behind "closed"
  if (closed_) return false;
  try {
    reporting_.worker().start();
  } catch (const std::system_error&) {  // for whoever asks it is the same: perhaps later
    throw std::bad_alloc();
  }
  boost::asio::post(reporting_.worker().context(), [this, build = std::move(build)] {
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
  programs_->add_to(metrics);
  return metrics;
}

std::optional<RuntimeMetrics> RuntimeState::try_metrics() const {
  RuntimeMetrics metrics = own_metrics();
  if (!programs_->try_add_to(metrics)) return std::nullopt;
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
  reporting_.add_to(metrics);
  return metrics;
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
  if (!wait_for_callers(name))
    return Error(Errc::execution_timeout, "a call of program '" + std::string(name) +
                                              "' has not returned from its slice; restart it once "
                                              "more");
  RK_TRY_VOID(programs_->end(name));
  const std::lock_guard lock(registry_mutex_);
  std::erase_if(kept_, [&](const auto& kernel) {
    if (kernel->program().name() != name) return false;
    kernel->give_back();
    return true;
  });
  return {};
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

bool RuntimeState::wait_for_callers(std::string_view program) noexcept {
  const std::uint64_t last_ns = deadline_ns(options_.termination_timeout);
  const auto has_none = [&](const auto& kernel) {
    return (!program.empty() && kernel->program().name() != program) ||
           kernel->lifecycle().try_retire();
  };
  for (bridge::IdleStrategy idle;; idle.rest()) {
    {
      const std::lock_guard lock(registry_mutex_);
      if (std::ranges::all_of(kept_, has_none)) return true;
    }
    if (clock_.now_ns() >= last_ns) return false;
  }
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
  if (!wait_for_callers({})) {
    const std::lock_guard lock(registry_mutex_);
    is_left_ = true;
  }
  functions_.close();  // their kernels have ended
  if (!is_left_) wait_for_builds();
  bridge_.stop();
  reporting_.end(is_left_);
  std::vector<std::shared_ptr<KernelState>> kept;  // they share this, and go behind it
  {
    const std::lock_guard lock(registry_mutex_);
    kept.swap(kept_);
  }
  tensors_->close();
  Result<void> closed = programs_->close(is_left_);
  const bool returned = closed.has_value();
  if (!returned) result = std::move(closed);
  if (is_left_) return result;  // what is under way asks for the memory
  arena_->hold_while({});       // nobody is given any of it any more, and the memory goes
  if (!returned) leave_behind(memory_);
  memory_.reset();
  return result;
}

}  // namespace ringkernel::detail
