#include "runtime/kernel_state.hpp"

#include <bit>
#include <utility>

#include "foundation/scope_guard.hpp"
#include "ring/geometry.hpp"

namespace ringkernel::detail {
namespace {

static_assert(in_flight_max <= bridge::Pending::slots_max);

bridge::Policy to_policy(Backpressure backpressure) noexcept {
  switch (backpressure) {
    case Backpressure::block: return bridge::Policy::block;
    case Backpressure::reject: return bridge::Policy::reject;
    case Backpressure::drop_oldest: return bridge::Policy::drop_oldest;
    case Backpressure::drop_newest: break;
  }
  return bridge::Policy::drop_newest;
}

Result<void> check_ring(const char* which, std::uint32_t bytes) {
  if (std::has_single_bit(bytes) && bytes >= ring_bytes_min && bytes <= ring_bytes_max) return {};
  return Error(Errc::invalid_argument, std::string(which) + " is " + std::to_string(bytes) +
                                           "; it must be a power of two from " +
                                           std::to_string(ring_bytes_min) + " to " +
                                           std::to_string(ring_bytes_max));
}

}  // namespace

Result<void> KernelState::check(const KernelOptions& options) {
  RK_TRY_VOID(check_ring("input_bytes", options.input_bytes));
  RK_TRY_VOID(check_ring("output_bytes", options.output_bytes));
  if (options.in_flight_max == 0 || options.in_flight_max > in_flight_max)
    return Error(Errc::invalid_argument,
                 "in_flight_max is " + std::to_string(options.in_flight_max) +
                     "; it must be from 1 to " + std::to_string(in_flight_max));
  // A sender that waits is woken when a queued message enters the ring.
  if (options.backpressure == Backpressure::block && options.queue_max == 0)
    return Error(Errc::invalid_argument, "queue_max is 0; backpressure 'block' needs at least 1");
  return {};
}

KernelState::KernelState(std::shared_ptr<RuntimeState> runtime, std::string id,
                         const KernelOptions& options)
    : runtime_(std::move(runtime)),
      id_(std::move(id)),
      options_(options),
      program_(options.program),
      lifecycle_(id_, *this, runtime_->clock(), runtime_->options().termination_timeout) {}

Result<void> KernelState::open(Program& program) {
  const DefinitionPointer& definition = program.definition();
  memory_.emplace(runtime_->arena(), runtime_->memory(), runtime_->options().termination_timeout);
  // A launch that fails leaves nothing behind, whoever still knows the kernel.
  ScopeGuard giving_back([this]() noexcept { memory_->give_back(); });
  RK_TRY_VOID(memory_->open(options_.input_bytes, options_.output_bytes));
  RK_TRY(behaviour, definition->behaviour(options_.behaviour));
  const std::uint32_t state_bytes = definition->state_bytes(behaviour);
  RK_TRY(state, memory_->take_state(state_bytes));
  memory_->set_state(std::move(state), state_bytes);
  if (behaviour != nullptr) memory_->set_behaviour(behaviour->id);
  program_.begin({definition, program.version(), behaviour});
  const bridge::KernelRings& rings = memory_->rings();
  bridge::Executor& executor = program.executor();
  RK_TRY(kernel, executor.attach(rings));
  ScopeGuard detaching([&] { executor.detach(kernel); });
  const bridge::ChannelLimits limits{
      .in_flight_max = options_.in_flight_max,
      .queue_max = options_.queue_max,
      .policy = to_policy(options_.backpressure),
      .spin_ns = static_cast<std::uint64_t>(runtime_->options().spin_for.count()),
      .sample_every = runtime_->reporting().sample_every(),
      .trace = runtime_->reporting().trace(),
      .name = id_};
  placed_ = &program;
  kernel_ = kernel;
  std::byte* const arena = runtime_->arena().data();
  channel_ = std::make_shared<bridge::Channel>(
      executor, kernel, RingView::at(arena, rings.input_offset, rings.input_capacity),
      RingView::at(arena, rings.output_offset, rings.output_capacity), limits, runtime_->clock(),
      runtime_->bridge());
  lifecycle_.place(executor, kernel, channel_);
  exchange_.emplace(Exchange::Parts{.id = id_,
                                    .channel = channel_,
                                    .program = program_,
                                    .lifecycle = lifecycle_,
                                    .tensors = runtime_->tensors(),
                                    .clock = runtime_->clock(),
                                    .call_timeout = runtime_->options().call_timeout,
                                    .send_timeout = runtime_->options().send_timeout,
                                    .runs_on_caller = program.runs_on_caller(),
                                    .runs_ops_on_caller = program.runs_ops_on_caller()});
  metrics_.emplace(id_, MetricsSource::Sources{.channel = channel_,
                                               .executor = executor,
                                               .copy_agent = program.copy_agent(),
                                               .kernel = kernel,
                                               .arena = arena,
                                               .rings = rings,
                                               .program = program_,
                                               .clock = runtime_->clock()});
  metrics_->count_methods(behaviour);
  runtime_->bridge().add(channel_);  // nothing throws behind it
  detaching.dismiss();
  giving_back.dismiss();
  lifecycle_.launched();
  return {};
}

KernelMetrics KernelState::metrics() const { return metrics_->metrics(status()); }

KernelActivity KernelState::activity() const { return metrics_->activity(status()); }

void KernelState::stopped(bool released, const Result<void>& result) {
  if (!released) runtime_->keep(shared_from_this());  // nothing throws behind it
  metrics_->freeze();
  runtime_->bridge().remove(*channel_);
  if (released) {
    placed_->executor().detach(kernel_);
    give_back();
  }
  if (!result) note(result.error());
}

void KernelState::give_back() noexcept {
  channel_->release_leases();
  lifecycle_.with_lock([this] { memory_->give_back(); });
}

bool KernelState::try_give_back() noexcept {
  if (!lifecycle_.is_released()) return false;
  placed_->executor().detach(kernel_);
  give_back();
  return true;
}

}  // namespace ringkernel::detail
