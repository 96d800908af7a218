// The programs of a runtime: what their names stand for, their executors, and the ends of those.
#include <utility>

#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"
#include "foundation/timeout.hpp"
#include "runtime/kernel_state.hpp"
#include "runtime/runtime_state.hpp"

namespace ringkernel::detail {

Result<RuntimeState::Current> RuntimeState::current(const std::string& name) const {
  if (const auto found = added_.find(name); found != added_.end()) return found->second;
  if (DefinitionPointer ours = program::Definition::built_in(name))
    return Current{ours, 1, nullptr};
  std::string names = "core, echo";
  for (const auto& [added, definition] : added_) names += ", " + added;
  return Error(Errc::program_not_found, "'" + name + "'; there are: " + names);
}

Result<Program*> RuntimeState::program(const std::string& name) {
  std::unique_lock lock(programs_mutex_);
  const auto is_built = [&] {
    const auto found = programs_.find(name);
    return found == programs_.end() || found->second != nullptr;
  };
  if (!program_built_.wait_for(lock, std::chrono::nanoseconds(bounded_ns(options_.driver_timeout)),
                               is_built))
    return Error(Errc::execution_timeout, "another build of program '" + name + "' has not ended");
  if (!memory_) return Error(Errc::runtime_closed, "program '" + name + "'");
  const auto found = programs_.find(name);
  if (found != programs_.end()) {
    bridge::Executor& executor = found->second->executor();
    if (executor.stopped())
      return Error(Errc::execution_timeout,
                   "the slices of program '" + name + "' have not returned; restart it once more");
    executor.check();
    if (!executor.failed()) return found->second.get();
    const Error failure = executor.failure();
    return Error(failure.code, "program '" + name + "': " + failure.detail +
                                   "; restart the program, and launch its kernels anew");
  }
  RK_TRY(wanted, current(name));
  return open_program(wanted, lock);
}

Result<ProgramInfo> RuntimeState::program_info(std::string_view name) const {
  const std::lock_guard lock(programs_mutex_);
  RK_TRY(found, current(std::string(name)));
  return found.definition->info(found.version);
}

Result<ProgramInfo> RuntimeState::add_program(const ProgramDesc& desc) {
  {
    const std::lock_guard lock(registry_mutex_);
    if (closed_) return Error(Errc::runtime_closed, "program '" + desc.name + "'");
    ++launching_;
  }
  const ScopeGuard ended([this]() noexcept { end_launching(); });
  std::unique_lock lock(programs_mutex_);
  if (program::Definition::is_built_in(desc.name) || added_.contains(desc.name))
    return Error(Errc::invalid_argument, "there is a program '" + desc.name + "' already");
  RK_TRY(definition, program::Definition::of(desc));
  RK_TRY_VOID(definition->check_handlers());
  const auto place = added_.emplace(desc.name, Current{definition, 1, nullptr}).first;
  ProgramInfo info = definition->info(1);
  ScopeGuard leaving([&]() noexcept { added_.erase(place); });
  if (Result<Program*> opened = open_program(place->second, lock); !opened)
    return definition->explained(std::move(opened).error());
  leaving.dismiss();
  return info;
}

void RuntimeState::note_of_program(std::string_view name, const Error& error) noexcept {
  Error told = error;
  (void)with_memory([&] {
    const std::string quoted = "'" + std::string(name) + "'";
    if (told.detail.find(quoted) == std::string::npos)
      told.detail = "program " + quoted + ": " + told.detail;
  });
  note({}, told);
}

Result<Program*> RuntimeState::open_program(const Current& current,
                                            std::unique_lock<std::mutex>& lock) {
  const DefinitionPointer definition = current.definition;
  if (programs_.size() == programs_max)
    return Error(Errc::limit_exceeded,
                 "a runtime has at most " + std::to_string(programs_max) + " programs");
  const ProgramOptions program_options{.version = current.version,
                                       .limits = {.kernel_capacity = options_.kernels_per_program,
                                                  .work_groups = opened_.work_groups,
                                                  .drain_records_max = options_.drain_records_max},
                                       .park_after = options_.park_after,
                                       .spin_for = options_.spin_for,
                                       .slice_for = options_.slice_for,
                                       .driver_timeout = options_.driver_timeout,
                                       .turn_for = options_.turn_for,
                                       .polls_per_ms = opened_.polls_per_ms,
                                       .slices_have_clock = opened_.slices_have_clock != 0,
                                       .trace = trace()};
  const auto place = programs_.emplace(definition->name(), nullptr).first;
  ScopeGuard leaving([&]() noexcept {
    if (!lock.owns_lock()) lock.lock();
    programs_.erase(place);
    program_built_.notify_all();
  });
  lock.unlock();  // metrics, and the other programs, do not wait for the driver
  RK_TRY(opened, Program::open(*memory_, *arena_, definition, program_options));
  lock.lock();
  bridge_.add(opened->executor());  // nothing throws behind it
  leaving.dismiss();
  place->second = std::move(opened);
  program_built_.notify_all();
  return place->second.get();
}

Result<void> RuntimeState::end_program(std::string_view name) {
  std::unique_lock lock(programs_mutex_);
  const auto found = programs_.find(name);
  if (found == programs_.end()) {
    RK_TRY(known, current(std::string(name)));
    return {};
  }
  if (!found->second)
    return Error(Errc::busy, "program '" + std::string(name) + "' is being built");
  bridge::Executor& executor = found->second->executor();
  const std::uint64_t deadline_ns = this->deadline_ns(options_.termination_timeout);
  Result<void> stopped = executor.stop(bounded_ns(options_.termination_timeout));
  if (!stopped &&
      (stopped.error() == Errc::execution_timeout || stopped.error() == Errc::allocation_failure))
    return stopped;
  // A program that has failed may still have a slice, or a copy, that touches the arena.
  if (found->second->is_at_work(deadline_ns - std::min(clock_.now_ns(), deadline_ns)))
    return Error(Errc::execution_timeout, "program '" + std::string(name) +
                                              "' has failed, and its last slice has not returned" +
                                              found->second->why_late());
  bridge_.remove(executor);
  found->second->add_to(ended_programs_);
  programs_.erase(found);
  lock.unlock();
  const std::lock_guard registry_lock(registry_mutex_);
  std::erase_if(kept_, [&](const auto& kernel) {
    if (kernel->program().name() != name) return false;
    kernel->give_back();
    return true;
  });
  return {};
}

}  // namespace ringkernel::detail
