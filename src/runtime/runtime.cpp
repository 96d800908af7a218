#include "ringkernel/runtime.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "backend/registry.hpp"
#include "bridge/dma/copy_agent.hpp"
#include "bridge/executor/executor.hpp"
#include "foundation/align.hpp"
#include "foundation/environment.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"
#include "foundation/timeout.hpp"
#include "http/address.hpp"
#include "observe/logger.hpp"
#include "runtime/functions/function_state.hpp"
#include "runtime/kernel_state.hpp"
#include "runtime/runtime_state.hpp"
#include "runtime/tensor.hpp"

namespace ringkernel {
namespace {

const char* name(BackendTarget target) noexcept {
  switch (target) {
    case BackendTarget::cpu: return "cpu";
    case BackendTarget::gpu: return "gpu";
    case BackendTarget::automatic: break;
  }
  return "automatic";
}

bool fits(BackendTarget target, std::uint32_t device_kind) noexcept {
  switch (target) {
    case BackendTarget::cpu: return device_kind == RK_DEVICE_KIND_CPU;
    case BackendTarget::gpu: return device_kind == RK_DEVICE_KIND_GPU;
    case BackendTarget::automatic: break;
  }
  return true;
}

/// What was asked for, as RK_TRANSFER_*.
Result<std::uint32_t> wanted_transfer(Transfer transfer) {
  switch (transfer) {
    case Transfer::automatic: break;
    case Transfer::zero_copy: return RK_TRANSFER_ZERO_COPY;
    case Transfer::dma: return RK_TRANSFER_DMA;
    case Transfer::sliced: return RK_TRANSFER_SLICED;
  }
  const std::string_view name = environment("RINGKERNEL_TRANSFER");
  if (name.empty()) return RK_TRANSFER_NONE;
  for (const std::uint32_t known : {RK_TRANSFER_ZERO_COPY, RK_TRANSFER_DMA, RK_TRANSFER_SLICED})
    if (name == backend::transfer_name(known)) return known;
  return Error(Errc::invalid_argument, "RINGKERNEL_TRANSFER is '" + std::string(name) +
                                           "'; there are zero_copy, dma and sliced");
}

Error no_kernel(std::string_view id) {
  return {Errc::kernel_not_found, "'" + std::string(id) + "'"};
}

Result<void> check(const RuntimeOptions& options) {
  if (std::string fault = detail::fault_of_name(options.name); !fault.empty())
    return Error(Errc::invalid_argument, std::move(fault));
  if (options.kernels_per_program == 0 || options.kernels_per_program > kernels_max ||
      options.kernels_per_program % RK_DOORBELLS_PER_LINE != 0)
    return Error(Errc::invalid_argument, "kernels_per_program must be a multiple of 16 up to " +
                                             std::to_string(kernels_max));
  if (options.arena_bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return Error(Errc::invalid_argument, "arena_bytes is " + std::to_string(options.arena_bytes) +
                                             ": no memory is so large");
  if (options.drain_records_max == 0)
    return Error(Errc::invalid_argument, "drain_records_max must not be 0");
  if (options.work_groups > work_groups_max)
    return Error(Errc::limit_exceeded, "work_groups is " + std::to_string(options.work_groups) +
                                           "; an executor has at most " +
                                           std::to_string(work_groups_max));
  const bool negative = options.park_after.count() < 0 || options.spin_for.count() < 0 ||
                        options.slice_for.count() < 0 || options.turn_for.count() < 0 ||
                        options.call_timeout.count() < 0 || options.send_timeout.count() < 0 ||
                        options.termination_timeout.count() < 0 ||
                        options.driver_timeout.count() < 0;
  if (negative) return Error(Errc::invalid_argument, "a duration is negative");
  if (options.driver_timeout.count() == 0)
    return Error(Errc::invalid_argument, "driver_timeout must not be 0");
  if (options.telemetry_period < std::chrono::milliseconds(1) ||
      options.telemetry_period > std::chrono::hours(1))
    return Error(Errc::invalid_argument, "telemetry_period is not from a millisecond to an hour");
  if (!options.http_address.empty()) RK_TRY_VOID(http::parse_address(options.http_address));
  return {};
}

/// What the environment asks for where the options do not. Backends read the first two; nobody is
/// to find out at the first build that they say nothing.
Result<RuntimeOptions> completed(RuntimeOptions options) {
  RK_TRY_VOID(switch_of_environment("RINGKERNEL_CACHE"));
  RK_TRY_VOID(switch_of_environment("RINGKERNEL_RESIDENT_COPIER"));
  RK_TRY(telemetry, switch_of_environment("RINGKERNEL_TELEMETRY"));
  RK_TRY(steps, switch_of_environment("RINGKERNEL_TURN_STEPS"));
  if (steps.value_or(false)) options.turn_for = std::chrono::nanoseconds(1);
  options.telemetry = options.telemetry && telemetry.value_or(true);
  if (options.http_address.empty()) options.http_address = environment("RINGKERNEL_HTTP");
  return options;
}

/// How many work-groups a device is asked to prove.
std::uint32_t wanted_work_groups(std::uint32_t option, const rk_device_description& device) {
  constexpr std::uint32_t gpu_default = 16;  // each serves as many messages as a host can send
  if (option != 0) return option;
  return device.kind == RK_DEVICE_KIND_GPU ? std::min(gpu_default, device.work_groups_max) : 1;
}

Result<void> check_work_groups(std::uint32_t wanted, const rk_device_description& device,
                               const rk_device_state& state) {
  if (wanted <= state.work_groups) return {};
  return Error(Errc::limit_exceeded, "work_groups is " + std::to_string(wanted) + "; '" +
                                         device.name + "' keeps " +
                                         std::to_string(state.work_groups) + " resident together");
}

/// What opens can launch: the region of one program, and the smallest ring kernel.
Result<void> check_arena(const RuntimeOptions& options, const rk_device_state& state) {
  const std::uint64_t region =
      bridge::Executor::region_bytes({.kernel_capacity = options.kernels_per_program,
                                      .work_groups = state.work_groups,
                                      .drain_records_max = options.drain_records_max}) +
      (state.transfer == RK_TRANSFER_ZERO_COPY ? 0 : bridge::CopyAgent::staging_bytes);
  const std::uint64_t rings =
      2 * align_up<std::uint64_t>(ring_bytes(ring_bytes_min), RK_LINE_BYTES);
  const std::uint64_t room = state.arena_bytes - state.arena_bytes % Arena::granule_bytes;
  if (room >= align_up<std::uint64_t>(region, RK_LINE_BYTES) + rings) return {};
  return Error(Errc::allocation_failure,
               "arena_bytes is " + std::to_string(options.arena_bytes) + "; a program of " +
                   std::to_string(options.kernels_per_program) + " kernels takes " +
                   std::to_string(region) + ", and the smallest of these " + std::to_string(rings));
}

/// What `use` gives; its error is put into the log.
template <class Use>
auto of_program(detail::RuntimeState& runtime, std::string_view name, Use&& use)
    -> decltype(use()) {
  auto result = or_no_memory(use);
  if (!result) runtime.reporting().note_of_program(name, result.error());
  return result;
}

/// A device that fits, found but not yet opened.
struct Candidate {
  backend::Backend backend;
  std::uint32_t index;
  rk_device_description description;
};

/// What the builder was told or, where it was not, the environment.
struct Choice {
  std::string backend;
  std::optional<std::uint32_t> device;
  std::string text = {};  // for an error
};

Result<Choice> completed(Choice choice) {
  const bool is_named = !choice.backend.empty();  // by the program, and a device would be another's
  if (is_named) choice.text += ", backend '" + choice.backend + "'";
  const std::string_view backend = environment("RINGKERNEL_BACKEND");
  if (choice.backend.empty() && !backend.empty()) {
    choice.backend = backend;
    choice.text += ", backend '" + choice.backend + "' ($RINGKERNEL_BACKEND)";
  }
  if (choice.device) choice.text += ", device " + std::to_string(*choice.device);
  const std::string_view number = environment("RINGKERNEL_DEVICE");
  if (!choice.device && !is_named && !number.empty()) {
    std::uint32_t device = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), device);
    if (read.ec != std::errc() || read.ptr != number.data() + number.size())
      return Error(Errc::invalid_argument, "RINGKERNEL_DEVICE is '" + std::string(number) +
                                               "'; it is the number of a device, from 0 on");
    choice.device = device;
    choice.text += ", device " + std::string(number) + " ($RINGKERNEL_DEVICE)";
  }
  return choice;
}

/// The one with this name or, without a name, all of them.
Result<std::vector<backend::Backend>> wanted_backends(const std::string& name, std::string& why) {
  if (!name.empty()) {
    RK_TRY(found, backend::find_backend(name));
    return std::vector{found};
  }
  std::vector<std::string> refused;
  std::vector<backend::Backend> all = backend::all_backends(refused);
  for (const std::string& line : refused) why += "; " + line;
  return all;
}

/// Every device of the backends that fits, in the order of BackendTarget; why the others do not
/// goes to `why`.
std::vector<Candidate> find_candidates(BackendTarget target,
                                       std::span<const backend::Backend> backends,
                                       std::string& why) {
  std::vector<Candidate> candidates;
  for (const backend::Backend& backend : backends) {
    const std::string name(backend.name());
    if (const auto lines = backend.report())
      for (const std::string& line : *lines) why += "; " + name + ": " + line;
    const auto count = backend.device_count();
    if (!count) {
      why += "; " + name + ": " + count.error().text();
      continue;
    }
    for (std::uint32_t index = 0; index < *count; ++index) {
      const auto description = backend.describe(index);
      if (!description)
        why += "; " + name + " device " + std::to_string(index) + ": " + description.error().text();
      else if (fits(target, description->kind))
        candidates.push_back({backend, index, *description});
      else
        why += "; " + name + ": '" + description->name + "' is another kind of device";
    }
  }
  const auto processors = std::stable_partition(
      candidates.begin(), candidates.end(),
      [](const Candidate& candidate) { return candidate.description.kind != RK_DEVICE_KIND_CPU; });
  std::stable_sort(candidates.begin(), processors, [](const Candidate& a, const Candidate& b) {
    return a.backend.score() > b.backend.score();
  });
  return candidates;
}

}  // namespace

detail::ServiceThread& detail::service_of(const RingKernelRuntime& runtime) {
  return runtime.state_->reporting().service();
}

Result<RingKernelRuntime> RuntimeBuilder::build() const {
  return or_no_memory([this] { return open(); });
}

Result<RingKernelRuntime> RuntimeBuilder::open() const {
  RK_TRY(options, completed(options_));
  RK_TRY_VOID(check(options));
  std::shared_ptr<LogSink> log = log_;
  if (log == nullptr) {
    RK_TRY(wanted, detail::log_of_environment());
    log = std::move(wanted);
  }
  std::string why;
  RK_TRY(choice, completed({backend_, device_}));
  RK_TRY(backends, wanted_backends(choice.backend, why));
  const std::vector<Candidate> candidates = find_candidates(target_, backends, why);
  rk_device_options device_options{};
  device_options.executors_max = programs_max;
  device_options.arena_bytes = options.arena_bytes;
  device_options.driver_timeout_ns = bounded_ns(options.driver_timeout);
  device_options.end_timeout_ns = bounded_ns(options.termination_timeout);
  RK_TRY(transfer, wanted_transfer(options.transfer));
  device_options.transfer = transfer;
  // An index names one device; without one the first that opens is taken.
  const std::size_t end = choice.device ? std::size_t{*choice.device} + 1 : candidates.size();
  for (std::size_t i = choice.device.value_or(0); i < std::min(end, candidates.size()); ++i) {
    const Candidate& candidate = candidates[i];
    device_options.work_groups = wanted_work_groups(options.work_groups, candidate.description);
    Result<backend::OpenDevice> device = candidate.backend.open(candidate.index, device_options);
    if (!device) {
      const std::string text = device.error().text();
      const bool is_asked_for = choice.device || !choice.backend.empty();
      if (is_asked_for && !(device.error() == Errc::backend_unavailable))
        return std::move(device).error();
      why += "; " + std::string(candidate.backend.name()) + ": '" + candidate.description.name +
             "': " + text;
      continue;
    }
    RK_TRY(device_state, device->state());
    RK_TRY_VOID(check_arena(options, device_state));
    RK_TRY_VOID(check_work_groups(options.work_groups, candidate.description, device_state));
    try {
      auto state = std::make_shared<detail::RuntimeState>(
          options, std::string(candidate.backend.name()), candidate.description, std::move(*device),
          device_state);
      state->start(std::move(log));
      return RingKernelRuntime(std::move(state));
    } catch (const std::runtime_error& refusal) {  // of the system: no thread, no descriptor
      return Error(Errc::backend_unavailable,
                   std::string("the runtime cannot start: ") + refusal.what());
    }
  }
  if (choice.device && *choice.device >= candidates.size()) {
    why += "; there are " + std::to_string(candidates.size()) + " such devices:";
    for (const Candidate& candidate : candidates)
      why.append(" '").append(candidate.description.name).append("'");
  }
  return Error(Errc::backend_unavailable,
               std::string("target '") + name(target_) + "'" + choice.text +
                   "; tried: " + (why.empty() ? "nothing" : why.substr(2)));
}

RingKernelRuntime& RingKernelRuntime::operator=(RingKernelRuntime&& other) noexcept {
  if (this == &other) return *this;
  end();
  state_ = std::move(other.state_);
  return *this;
}

RingKernelRuntime::~RingKernelRuntime() { end(); }

void RingKernelRuntime::end() noexcept {
  if (state_ != nullptr && state_->is_foreign())
    keep_for_ever(std::move(state_));  // threads that do not exist, locks that nobody gives back
  else if (state_ != nullptr)
    (void)state_->shutdown();
}

Result<Kernel> RingKernelRuntime::launch(std::string_view id, const KernelOptions& options) {
  if (state_->is_foreign()) return made_before_fork();
  auto launched = or_no_memory([&] { return state_->launch(id, options); });
  if (launched) return Kernel(std::move(*launched));
  state_->reporting().note(id, launched.error());
  return std::move(launched).error();
}

Result<Kernel> RingKernelRuntime::launch(std::string_view id, Dim3 grid, Dim3 block,
                                         const KernelOptions& options) {
  const auto single = [](const Dim3& dim) { return dim.x == 1 && dim.y == 1 && dim.z == 1; };
  const auto text = [](const Dim3& dim) {
    return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z);
  };
  if (state_->is_foreign()) return made_before_fork();
  return or_no_memory([&]() -> Result<Kernel> {
    if (!single(grid) || !single(block))
      return Error(Errc::limit_exceeded, "grid " + text(grid) + ", block " + text(block) +
                                             "; a message is worked on by 1x1x1 work-groups of "
                                             "1x1x1 work-items; " +
                                             state_->device_limits());
    return launch(id, options);
  });
}

Kernel RingKernelRuntime::find(std::string_view id) const {
  return state_->is_foreign() ? Kernel() : Kernel(state_->find(id));
}

Result<Kernel> RingKernelRuntime::kernel(std::string_view id) const {
  if (state_->is_foreign()) return made_before_fork();
  return or_no_memory([&]() -> Result<Kernel> {
    auto state = state_->find(id);
    if (state == nullptr) return no_kernel(id);
    return Kernel(std::move(state));
  });
}

std::vector<std::string> RingKernelRuntime::kernels() const {
  return state_->is_foreign() ? std::vector<std::string>() : state_->ids();
}

Result<KernelStatus> RingKernelRuntime::status(std::string_view id) const {
  RK_TRY(found, kernel(id));
  return found.status();
}

Result<KernelMetrics> RingKernelRuntime::metrics(std::string_view id) const {
  return or_no_memory([&]() -> Result<KernelMetrics> {
    RK_TRY(found, kernel(id));
    return found.metrics();
  });
}

RuntimeMetrics RingKernelRuntime::metrics() const {
  return state_->is_foreign() ? RuntimeMetrics() : state_->metrics();
}

std::vector<ErrorRecord> RingKernelRuntime::errors() const {
  return state_->is_foreign() ? std::vector<ErrorRecord>() : state_->errors().records();
}

EventStream RingKernelRuntime::events(const EventOptions& options) {
  return state_->is_foreign() ? EventStream()
                              : EventStream(state_->reporting().events().subscribe(options));
}

Result<Tensor> RingKernelRuntime::allocate(const TensorDesc& desc) {
  if (state_->is_foreign()) return made_before_fork();
  return or_no_memory([&]() -> Result<Tensor> {
    RK_TRY(id, state_->allocate(desc));
    ScopeGuard giving_back([&]() noexcept { state_->tensors().give_up(id); });
    auto state = std::make_shared<detail::TensorState>(state_, id, desc);
    giving_back.dismiss();
    return Tensor(std::move(state));
  });
}

Result<Defragmentation> RingKernelRuntime::defragment() {
  if (state_->is_foreign()) return made_before_fork();
  return or_no_memory([this] { return state_->tensors().defragment(); });
}

Result<CompiledFunction> RingKernelRuntime::compile(const Graph& graph,
                                                    const FunctionOptions& options) {
  if (state_->is_foreign()) return made_before_fork();
  return or_no_memory([&]() -> Result<CompiledFunction> {
    RK_TRY(function, detail::FunctionState::compile(state_, graph, options));
    return CompiledFunction(std::move(function));
  });
}

std::optional<CompiledFunction> RingKernelRuntime::cached_function(
    std::string_view content, std::span<const TensorDesc> inputs) const {
  if (state_->is_foreign()) return std::nullopt;
  return state_->functions().find({content, inputs});
}

Result<CompiledFunction> RingKernelRuntime::compile_and_keep(std::string_view content,
                                                             std::span<const TensorDesc> inputs,
                                                             const Graph& graph,
                                                             const FunctionOptions& options) {
  return or_no_memory([&]() -> Result<CompiledFunction> {
    if (graph.status() && !std::ranges::equal(graph.inputs(), inputs))
      return Error(Errc::invalid_argument,
                   "graph '" + graph.name() + "' has other inputs than were asked for");
    RK_TRY(function, compile(graph, options));
    return state_->functions().keep({content, inputs}, function);
  });
}

Result<ProgramInfo> RingKernelRuntime::add_program(const ProgramDesc& program) {
  if (state_->is_foreign()) return made_before_fork();
  return of_program(*state_, program.name, [&] { return state_->add_program(program); });
}

Result<SwapInfo> RingKernelRuntime::swap_program(const ProgramDesc& program) {
  if (state_->is_foreign()) return made_before_fork();
  return of_program(*state_, program.name, [&] { return state_->swap_program(program); });
}

Result<SwapInfo> RingKernelRuntime::swap_back(std::string_view program) {
  if (state_->is_foreign()) return made_before_fork();
  return of_program(*state_, program, [&] { return state_->swap_back(program); });
}

Result<ProgramInfo> RingKernelRuntime::program(std::string_view name) const {
  if (state_->is_foreign()) return made_before_fork();
  return or_no_memory([&] { return state_->programs().info(name); });
}

Result<void> RingKernelRuntime::restart(std::string_view program) {
  if (state_->is_foreign()) return made_before_fork();
  return or_no_memory([&] { return state_->restart(program); });
}

Result<void> RingKernelRuntime::shutdown() {
  if (state_->is_foreign()) return made_before_fork();
  return state_->shutdown();
}

}  // namespace ringkernel
