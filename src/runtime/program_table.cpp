#include "runtime/program_table.hpp"

#include <algorithm>
#include <utility>

#include "foundation/leave_behind.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"
#include "foundation/timeout.hpp"
#include "ringkernel/limits.hpp"

namespace ringkernel::detail {

Result<ProgramTable::Current> ProgramTable::find(const std::string& name) const {
  if (const auto found = added_.find(name); found != added_.end()) return found->second;
  if (DefinitionPointer ours = program::Definition::built_in(name))
    return Current{ours, 1, nullptr};
  std::string names = "core, echo";
  for (const auto& [added, definition] : added_) names += ", " + added;
  return Error(Errc::program_not_found, "'" + name + "'; there are: " + names);
}

Result<ProgramTable::Current> ProgramTable::current(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return find(name);
}

void ProgramTable::replace(const std::string& name, Current next) {
  const std::lock_guard lock(mutex_);
  added_.find(name)->second = std::move(next);
}

Result<Program*> ProgramTable::get(const std::string& name) {
  std::unique_lock lock(mutex_);
  const auto is_built = [&] {
    const auto found = programs_.find(name);
    return found == programs_.end() || found->second != nullptr;
  };
  if (!built_.wait_for(lock, std::chrono::nanoseconds(bounded_ns(at_.options.driver_timeout)),
                       is_built))
    return Error(Errc::execution_timeout, "another build of program '" + name + "' has not ended");
  if (closed_) return Error(Errc::runtime_closed, "program '" + name + "'");
  const auto found = programs_.find(name);
  if (found != programs_.end()) {
    bridge::Executor& executor = found->second->executor();
    if (executor.stopped())
      return Error(Errc::execution_timeout,
                   "the slices of program '" + name + "' have not returned; restart it once more");
    executor.check();
    if (!executor.failed()) return found->second.get();
    const Error failure = executor.failure();
    // The end of copies is that of the runtime, and its text names the way.
    const bool names_way = failure.detail.find("open another runtime") != std::string::npos;
    return Error(failure.code,
                 "program '" + name + "': " + failure.detail +
                     (names_way ? "" : "; restart the program, and launch its kernels anew"));
  }
  RK_TRY(wanted, find(name));
  return open(wanted, lock);
}

Result<ProgramInfo> ProgramTable::info(std::string_view name) const {
  RK_TRY(found, current(std::string(name)));
  return found.definition->info(found.version);
}

Result<ProgramInfo> ProgramTable::add(const ProgramDesc& desc) {
  std::unique_lock lock(mutex_);
  if (program::Definition::is_built_in(desc.name) || added_.contains(desc.name))
    return Error(Errc::invalid_argument, "there is a program '" + desc.name + "' already");
  RK_TRY(definition, program::Definition::of(desc));
  RK_TRY_VOID(definition->check_handlers());
  const auto place = added_.emplace(desc.name, Current{definition, 1, nullptr}).first;
  ProgramInfo info = definition->info(1);
  ScopeGuard leaving([&]() noexcept { added_.erase(place); });
  if (Result<Program*> opened = open(place->second, lock); !opened)
    return definition->explained(std::move(opened).error());
  leaving.dismiss();
  return info;
}

Result<Program*> ProgramTable::open(const Current& current, std::unique_lock<std::mutex>& lock) {
  const DefinitionPointer definition = current.definition;
  if (programs_.size() == programs_max)
    return Error(Errc::limit_exceeded,
                 "a runtime has at most " + std::to_string(programs_max) + " programs");
  const RuntimeOptions& options = at_.options;
  const ProgramOptions program_options{.version = current.version,
                                       .limits = {.kernel_capacity = options.kernels_per_program,
                                                  .work_groups = at_.opened.work_groups,
                                                  .drain_records_max = options.drain_records_max},
                                       .park_after = options.park_after,
                                       .spin_for = options.spin_for,
                                       .slice_for = options.slice_for,
                                       .driver_timeout = options.driver_timeout,
                                       .turn_for = options.turn_for,
                                       .polls_per_ms = at_.opened.polls_per_ms,
                                       .slices_have_clock = at_.opened.slices_have_clock != 0,
                                       .trace = at_.trace};
  const auto place = programs_.emplace(definition->name(), nullptr).first;
  ScopeGuard leaving([&]() noexcept {
    if (!lock.owns_lock()) lock.lock();
    programs_.erase(place);
    built_.notify_all();
  });
  lock.unlock();  // metrics, and the other programs, do not wait for the driver
  RK_TRY(opened, Program::open(at_.memory, at_.arena, definition, program_options));
  lock.lock();
  at_.bridge.add(opened->executor());  // nothing throws behind it
  leaving.dismiss();
  place->second = std::move(opened);
  built_.notify_all();
  return place->second.get();
}

Result<void> ProgramTable::end(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = programs_.find(name);
  if (found == programs_.end()) {
    RK_TRY(known, find(std::string(name)));
    return {};
  }
  if (!found->second)
    return Error(Errc::busy, "program '" + std::string(name) + "' is being built");
  bridge::Executor& executor = found->second->executor();
  const std::uint64_t timeout_ns = bounded_ns(at_.options.termination_timeout);
  const std::uint64_t deadline_ns = at_.clock.now_ns() + timeout_ns;
  Result<void> stopped = executor.stop(timeout_ns);
  if (!stopped &&
      (stopped.error() == Errc::execution_timeout || stopped.error() == Errc::allocation_failure))
    return stopped;
  // A program that has failed may still have a slice, or a copy, that touches the arena.
  if (found->second->is_at_work(deadline_ns - std::min(at_.clock.now_ns(), deadline_ns)))
    return Error(Errc::execution_timeout, "program '" + std::string(name) +
                                              "' has failed, and its last slice has not returned" +
                                              found->second->why_late());
  at_.bridge.remove(executor);
  found->second->add_to(ended_);
  programs_.erase(found);
  return {};
}

void ProgramTable::add_to(RuntimeMetrics& metrics) const {
  const std::lock_guard lock(mutex_);
  add_all_to(metrics);
}

bool ProgramTable::try_add_to(RuntimeMetrics& metrics) const {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  add_all_to(metrics);
  return true;
}

void ProgramTable::add_all_to(RuntimeMetrics& metrics) const {
  metrics.slices = ended_.slices;
  metrics.copies = ended_.copies;
  metrics.copied_bytes = ended_.copied_bytes;
  for (const auto& [name, program] : programs_) {
    if (!program) continue;
    ++metrics.executors;
    program->add_to(metrics);
  }
  if (closed_) return;
  if (const Result<rk_device_state> device = at_.memory.device().state(); device) {
    metrics.program_cache_hits = device->program_cache_hits;
    metrics.program_cache_misses = device->program_cache_misses;
    metrics.program_cache_rejected = device->program_cache_rejected;
  }
}

void ProgramTable::note_parked() {
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock())
    for (const auto& [name, program] : programs_)
      if (program) program->note_parked();
}

Result<void> ProgramTable::close(bool is_left) noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = !is_left;  // else what is under way goes on with the device, which stays
  const std::uint64_t deadline_ns =
      at_.clock.now_ns() + bounded_ns(at_.options.termination_timeout);
  Result<void> result;
  if (is_left)
    result = error_of(Errc::execution_timeout,
                      "a launch, a call, or another build of a program has not "
                      "ended; the device is left to it");
  for (const auto& entry : programs_) {
    if (!entry.second) continue;
    const std::uint64_t now_ns = at_.clock.now_ns();  // together they take no longer than one
    const std::uint64_t left_ns = deadline_ns - std::min(now_ns, deadline_ns);
    Result<void> stopped = or_no_memory([&] { return entry.second->executor().stop(left_ns); });
    if (!stopped) result = std::move(stopped);
  }
  if (!result) {
    // A slice that does not return still works on the arena: it must outlive it.
    for (auto& [name, program] : programs_) leave_behind(program);
    if (is_left) return result;
  }
  for (const auto& [name, program] : programs_)
    if (program) program->add_to(ended_);
  programs_.clear();
  return result;
}

}  // namespace ringkernel::detail
