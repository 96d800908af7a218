// Another build of a program in the place of one that runs.
#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "bridge/idle.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"
#include "foundation/timeout.hpp"
#include "observe/logger.hpp"
#include "program/succession.hpp"
#include "ringkernel/protocol/fault.h"
#include "runtime/kernel_state.hpp"
#include "runtime/runtime_state.hpp"

namespace ringkernel::detail {

namespace {

/// `fault`: of the kernel (RK_FAULT_*).
std::string why_migration_failed(std::uint32_t fault, const program::Definition& next) {
  if (fault <= RK_FAULT_HANDLER_BASE) return make_error_code(static_cast<Errc>(fault)).message();
  const std::uint32_t code = fault - RK_FAULT_HANDLER_BASE;
  const std::string_view text = next.fault_text(code);
  return "code " + std::to_string(code) + (text.empty() ? "" : ", ") + std::string(text);
}

}  // namespace

/// The state of one kernel, made anew by its program's RK_MIGRATE, or begun anew. Until the end
/// nothing but a termination changes the kernel; one that has ended or failed is left alone.
///
///     begin: paused --> the program is replaced --> migrate: still paused --> end: as it was
class Migration {
 public:
  Migration(std::shared_ptr<KernelState> kernel, Arena::Region region, std::uint32_t bytes,
            program::StateChange change)
      : kernel_(std::move(kernel)),
        lifecycle_(kernel_->lifecycle()),
        place_(lifecycle_.place_),
        region_(std::move(region)),
        bytes_(bytes),
        is_fresh_(change == program::StateChange::fresh),
        unmigrated_(lifecycle_.unmigrated()) {}
  Migration(const Migration&) = delete;
  Migration& operator=(const Migration&) = delete;
  ~Migration() {
    if (!is_held_) end();
    if (!is_stuck()) return;
    {
      const std::lock_guard lock(lifecycle_.mutex_);
      lifecycle_.migrating_ = false;
      lifecycle_.set_unmigrated();
    }
    // Nobody would ever handle its messages.
    place_.channel->close(unmigrated_);
    place_.channel->fail_all(unmigrated_);
  }

  /// Has the device leave the kernel alone. False: the kernel is about to be deactivated or to end;
  /// again later.
  [[nodiscard]] bool try_begin() {
    const std::lock_guard lock(lifecycle_.mutex_);
    if (lifecycle_.status_ == KernelStatus::terminated || has_failed()) return true;
    if (lifecycle_.is_unmigrated_) return true;
    if (lifecycle_.deactivating_ || lifecycle_.migrating_) return false;
    if (lifecycle_.status_ == KernelStatus::terminating) return false;
    lifecycle_.migrating_ = has_begun_ = true;
    was_active_ = lifecycle_.status_ == KernelStatus::active;
    if (was_active_) epoch_ = place_.channel->set_state(RK_KERNEL_PAUSED);
    return true;
  }
  /// Whether the device obeys what it was told last, or there is no kernel any more.
  [[nodiscard]] bool is_obeyed() {
    const std::lock_guard lock(lifecycle_.mutex_);
    if (!epoch_ || !lives()) return true;
    bridge::Executor& executor = *place_.executor;
    executor.go_on(place_.kernel);
    return executor.failed() || executor.obeys(place_.kernel, *epoch_);
  }
  /// With the new program: has the device migrate the state, or see the new one. The kernel stays
  /// paused: a device may see the run state before the epoch that it comes with, and would handle
  /// messages on a state that it has not made yet.
  void migrate() {
    const std::lock_guard lock(lifecycle_.mutex_);
    if (!has_begun_ || !lives()) return;
    KernelMemory& memory = kernel_->memory();
    const bridge::KernelRings& rings = memory.rings();
    place_.executor->set_migration(place_.kernel,
                                   {.state_offset = KernelMemory::state_offset(region_),
                                    .state_bytes = bytes_,
                                    .old_offset = rings.state_offset,
                                    .old_bytes = is_fresh_ ? 0 : rings.state_bytes});
    memory.set_state(std::move(region_), bytes_);
    lifecycle_.on_device_ = has_migrated_ = true;
    epoch_ = place_.channel->set_state(RK_KERNEL_PAUSED);
  }
  /// The kernel goes on: the device has migrated its state, or nothing was replaced. Else it stays
  /// as it is, and can only be terminated: messages would meet a state of another program, or
  /// another run state would come before the migration, which then never took place.
  void end() noexcept {
    const std::lock_guard lock(lifecycle_.mutex_);
    if (!std::exchange(has_begun_, false)) return;
    lifecycle_.migrating_ = false;
    if (!lives()) return;
    kernel_->memory().drop_old_state();
    if (was_active_) place_.channel->set_state(RK_KERNEL_RUNNING);
  }
  [[nodiscard]] bool has_migrated() const noexcept { return has_migrated_; }
  /// Whether it has begun and has not come to its end: at the end of the swap, for good.
  [[nodiscard]] bool is_stuck() const {
    const std::lock_guard lock(lifecycle_.mutex_);
    return has_begun_ && lives();
  }
  [[nodiscard]] const std::string& id() const noexcept { return kernel_->id(); }
  /// The program is replaced: an end needs the migration.
  void hold() noexcept { is_held_ = true; }
  /// Why the kernel cannot be used any more, if it cannot. `next`: whose faults these are.
  [[nodiscard]] Result<void> outcome(const program::Definition& next) const {
    const std::lock_guard lock(lifecycle_.mutex_);
    const std::uint32_t fault = has_migrated_ && lives() ? fault_of_kernel() : 0;
    if (fault == 0) return {};
    return Error(Errc::state_mismatch, "kernel '" + kernel_->id() +
                                           "' can only be terminated: the migration of its state "
                                           "failed: " +
                                           why_migration_failed(fault, next));
  }

 private:
  // With the state lock, as the next ones: it has begun, and the device may be told something.
  [[nodiscard]] bool lives() const {
    return lifecycle_.status_ != KernelStatus::terminated && !lifecycle_.ending_told_;
  }
  [[nodiscard]] std::uint32_t fault_of_kernel() const {
    return place_.executor->fault(place_.kernel);
  }
  [[nodiscard]] bool has_failed() const { return fault_of_kernel() != 0; }

  const std::shared_ptr<KernelState> kernel_;
  Lifecycle& lifecycle_;
  const Lifecycle::Place& place_;
  Arena::Region region_;  // of the new state, zeroed; the kernel's from `migrate` on
  const std::uint32_t bytes_;
  const bool is_fresh_;     // the device has nothing to make it of
  const Error unmigrated_;  // made before anything is changed: the end needs no memory
  bool has_begun_ = false;
  bool was_active_ = false;
  bool is_held_ = false;
  bool has_migrated_ = false;
  std::optional<std::uint32_t> epoch_;
};

namespace {

/// Waits until `condition(migration)` holds for each of them, one behind the other. False at the
/// deadline.
template <class Condition>
bool wait_for_each(std::deque<Migration>& migrations, const bridge::Clock& clock,
                   std::uint64_t deadline_ns, Condition&& condition) {
  for (Migration& migration : migrations) {
    bridge::IdleStrategy idle;
    while (!condition(migration)) {
      if (clock.now_ns() >= deadline_ns) return false;
      idle.rest();
    }
  }
  return true;
}

/// nullptr: its program has no schema, or it has ended.
const program::Behaviour* behaviour_of(const KernelState& kernel) {
  return kernel.status() == KernelStatus::terminated ? nullptr
                                                     : kernel.program().current().behaviour;
}

Result<void> check(const program::Definition& running, const program::Definition& next,
                   const std::vector<std::shared_ptr<KernelState>>& kernels, program::Way way) {
  std::vector<const program::Behaviour*> used;
  for (const auto& kernel : kernels) {
    const program::Behaviour* const behaviour = behaviour_of(*kernel);
    if (behaviour != nullptr && std::ranges::find(used, behaviour) == used.end())
      used.push_back(behaviour);
  }
  std::string text;
  for (const std::string& obstacle : program::find_obstacles(running, next, used, way))
    text += (text.empty() ? "" : "; ") + obstacle;
  if (text.empty()) return {};
  return Error(Errc::incompatible_program, "program '" + next.name() + "': " + text);
}

/// Which kernels stay behind; empty: none.
std::string stuck_text(const std::deque<Migration>& migrations) {
  std::string ids;
  for (const Migration& migration : migrations)
    if (migration.is_stuck()) ids += (ids.empty() ? "'" : ", '") + migration.id() + "'";
  return ids.empty() ? ids : "; not migrated, and can only be terminated: " + ids;
}

/// For the log.
std::string to_text(const std::string& name, const SwapInfo& swapped) {
  const auto pause = std::chrono::duration_cast<std::chrono::microseconds>(swapped.pause);
  return "program '" + name + "': version " + std::to_string(swapped.version - 1) + " -> " +
         std::to_string(swapped.version) + ", paused for " + std::to_string(pause.count()) +
         " us, " + std::to_string(swapped.migrated) +
         (swapped.migrated == 1 ? " state" : " states") + " migrated";
}

}  // namespace

Result<SwapInfo> RuntimeState::swap_program(const ProgramDesc& desc) {
  return swap(desc.name, [&](const Current& running) -> Result<DefinitionPointer> {
    RK_TRY(next, running.definition->successor(desc));
    RK_TRY_VOID(next->check_handlers());
    return next;
  });
}

Result<SwapInfo> RuntimeState::swap_back(std::string_view name) {
  return swap(name, [&](const Current& running) -> Result<DefinitionPointer> {
    if (running.before != nullptr) return running.before;
    return Error(Errc::invalid_state,
                 "program '" + std::string(name) + "' was never swapped: there is no way back");
  });
}

Result<SwapInfo> RuntimeState::swap(std::string_view name, const MakeNext& make_next) {
  std::shared_ptr<Logger> log;  // shutdown may give up waiting for this swap
  {
    const std::lock_guard lock(registry_mutex_);
    if (closed_) return Error(Errc::runtime_closed, "swap of program '" + std::string(name) + "'");
    if (restarting_) return Error(Errc::busy, "a program is being restarted");
    if (swapping_) return Error(Errc::busy, "a program is being swapped");
    swapping_ = true;
    ++launching_;
    log = reporting_.log();
  }
  const ScopeGuard ended([&]() noexcept {
    log.reset();  // it does not outlive a shutdown that waits
    {
      const std::lock_guard lock(registry_mutex_);
      swapping_ = false;
      --launching_;
    }
    launched_.notify_all();
  });
  Result<Current> running = programs_->current(std::string(name));
  if (!running) return std::move(running).error();
  if (running->definition->is_built_in())
    return Error(Errc::unsupported,
                 "program '" + std::string(name) + "' is part of the library, and is not swapped");
  RK_TRY(next, make_next(*running));
  Result<SwapInfo> swapped = swap_running(*running, next);
  if (swapped && log != nullptr)
    (void)with_memory([&] { log->tell(LogLevel::info, to_text(next->name(), *swapped)); });
  return swapped;
}

std::vector<std::shared_ptr<KernelState>> RuntimeState::kernels_of(std::string_view program) const {
  std::vector<std::shared_ptr<KernelState>> all = kernels();
  std::erase_if(all, [&](const auto& kernel) { return kernel->program().name() != program; });
  return all;
}

Result<SwapInfo> RuntimeState::swap_running(const Current& running, const DefinitionPointer& next) {
  const std::string& name = next->name();
  RK_TRY(program, programs_->get(name));
  const std::uint32_t version = running.version + 1;
  const program::Way way = next == running.before ? program::Way::back : program::Way::on;
  RK_TRY_VOID(check(*running.definition, *next, kernels_of(name), way));
  if (Result<void> built = program->prepare(next, version); !built)
    return next->explained(std::move(built).error());

  const std::lock_guard no_launches(program->launches());
  const auto kernels = kernels_of(name);
  RK_TRY_VOID(check(*running.definition, *next, kernels, way));  // some may have come meanwhile
  std::deque<Migration> migrations;
  std::vector<const program::Behaviour*> successors;
  for (const auto& kernel : kernels) {
    const program::Behaviour* const behaviour = behaviour_of(*kernel);
    const auto* const successor =
        behaviour != nullptr ? next->schema()->find_behaviour(behaviour->full_name) : nullptr;
    successors.push_back(successor);
    kernel->metrics_source().count_methods(successor);
    const program::StateChange change =
        program::state_change(*running.definition, behaviour, *next, successor);
    if (change == program::StateChange::none) continue;
    RK_TRY(region, kernel->memory().take_state(next->state_bytes(successor)));
    migrations.emplace_back(kernel, std::move(region), next->state_bytes(successor), change);
  }

  const std::uint64_t timeout_ns = bounded_ns(options_.termination_timeout);
  const std::uint64_t begin_ns = clock_.now_ns();
  const auto obeyed = [](Migration& migration) { return migration.is_obeyed(); };
  const auto begun = [](Migration& migration) { return migration.try_begin(); };
  if (!wait_for_each(migrations, clock_, begin_ns + timeout_ns, begun) ||
      !wait_for_each(migrations, clock_, begin_ns + timeout_ns, obeyed))
    return Error(Errc::busy,
                 "program '" + name + "' is not swapped: the device is busy with a message");
  if (program->executor().failed()) return program->executor().failure();

  for (Migration& migration : migrations) migration.hold();
  // Whatever it answers: from here on slices that begin are of the new one.
  Result<void> result = or_no_memory([&] { return program->replace(next, version, timeout_ns); });
  for (std::size_t i = 0; i < kernels.size(); ++i)
    kernels[i]->program().adopt({next, version, successors[i]});
  programs_->replace(name, {next, version, running.definition});
  if (result) result = migrate(migrations, *program, *next, timeout_ns);
  if (TraceLog* const trace = reporting_.trace(); trace != nullptr)
    trace->keep(TraceEvent::of(TraceKind::swap, version, begin_ns, clock_.now_ns(), name));
  if (!result) {
    Error error = std::move(result).error();
    error.detail = "program '" + name + "' has version " + std::to_string(version) +
                   " from its next slice on, but " + error.detail + stuck_text(migrations);
    return error;
  }
  return SwapInfo{.version = version,
                  .pause = std::chrono::nanoseconds(clock_.now_ns() - begin_ns),
                  .migrated = static_cast<std::size_t>(
                      std::ranges::count_if(migrations, &Migration::has_migrated))};
}

Result<void> RuntimeState::migrate(std::deque<Migration>& migrations, Program& program,
                                   const program::Definition& next,
                                   std::uint64_t timeout_ns) const {
  for (Migration& migration : migrations) migration.migrate();
  const auto obeyed = [](Migration& migration) { return migration.is_obeyed(); };
  const bool all = wait_for_each(migrations, clock_, clock_.now_ns() + timeout_ns, obeyed);
  for (Migration& migration : migrations)
    if (migration.is_obeyed()) migration.end();
  if (program.executor().failed()) return program.executor().failure();
  if (!all) return Error(Errc::execution_timeout, "the device has not migrated all states");
  for (const Migration& migration : migrations) RK_TRY_VOID(migration.outcome(next));
  return {};
}

}  // namespace ringkernel::detail
