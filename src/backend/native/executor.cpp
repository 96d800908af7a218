#include "backend/native/executor.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "ringkernel/protocol/control_block.h"

namespace ringkernel::native {
namespace {

/// Null for a program of ours, which the executor calls itself.
Result<CalledPointer> find_called(const rk_program_source& program) {
  if (program.hosted_text == nullptr) return CalledPointer();
  const auto called = [&](const rk_hosted_program& hosted,
                          std::shared_ptr<const CompiledProgram> owner) {
    return std::make_unique<const Called>(
        Called{program.guard != 0 ? guarded_executor() : find_program(RK_PROGRAM_OF_SOURCES),
               {program.version, hosted.handler, hosted.migrate},
               std::move(owner)});
  };
  if (const rk_hosted_program* const hosted = find_compiled(program.compiled))
    return called(*hosted, nullptr);
  RK_TRY(built, compile_program(program.name, program.hosted_text));
  return called(built->hosted(), built);
}

}  // namespace

Result<std::unique_ptr<HostExecutor>> HostExecutor::create(std::span<std::byte> arena,
                                                           const rk_program_source& program,
                                                           std::uint64_t offset,
                                                           std::uint32_t work_groups) {
  const SliceFunction function = find_program(program.built_in);
  if (function == nullptr)
    return Error(Errc::program_not_found,
                 std::string("'") + program.name + "' is none that the native backend has");
  RK_TRY(called, find_called(program));
  RK_TRY(memory, Memory::map("a workspace", work_groups * group_bytes));
  return std::unique_ptr<HostExecutor>(
      new HostExecutor(arena, function, std::move(called), offset, work_groups, std::move(memory)));
}

HostExecutor::HostExecutor(std::span<std::byte> arena, SliceFunction function, CalledPointer called,
                           std::uint64_t offset, std::uint32_t work_groups, Memory memory)
    : arena_(arena),
      function_(function),
      called_(std::move(called)),
      current_(called_.get()),
      offset_(offset),
      memory_(std::move(memory)) {
  for (std::uint32_t group = 1; group < work_groups; ++group)
    others_.push_back(std::make_unique<SliceWorker>(
        [this, group](std::uint32_t slice) { run_group(slice, group); }));
  // No caller ever runs slices of several work-groups: what their threads need is taken now.
  for (const auto& other : others_) other->start();
  if (!others_.empty()) start();
}

Result<void> HostExecutor::prepare(const rk_program_source& program) {
  if (called_ == nullptr || program.hosted_text == nullptr)
    return Error(Errc::unsupported, "a program that is part of the library is not replaced");
  RK_TRY(called, find_called(program));
  old_.reserve(old_.size() + 1);  // `replace` needs no memory before it has taken place
  next_ = std::move(called);
  return {};
}

Result<void> HostExecutor::replace(std::uint64_t timeout_ns) {
  if (next_ == nullptr) return Error(Errc::invalid_argument, "no program was prepared");
  // release: what it points to; pairs with the acquire in run_slice
  current_.store(next_.get(), std::memory_order_release);
  old_.push_back(std::exchange(called_, std::move(next_)));
  if (!wait_for_old(timeout_ns))
    return Error(Errc::execution_timeout, "a slice of the program that was replaced has not left");
  old_.clear();  // unloads it
  return {};
}

void HostExecutor::forget() noexcept {
  for (std::size_t group = 0; group <= others_.size(); ++group)
    std::memset(local(group), 0, RK_SLICE_BYTES);
}

void HostExecutor::run_group(std::uint32_t slice, std::uint32_t group) {
  const SliceFunction function = running_ != nullptr ? running_->function : function_;
  function(reinterpret_cast<rk_u8*>(arena_.data()), arena_.size(), offset_, slice, group,
           workspace(group), local(group), running_ != nullptr ? &running_->code : nullptr);
}

void HostExecutor::run_slice(std::uint32_t slice) {
  // acquire: pairs with the release in replace
  running_ = current_.load(std::memory_order_acquire);
  running_slice_.store(slice, std::memory_order_relaxed);  // a hint, for ask_to_leave
  for (const auto& other : others_) other->launch(slice);
  run_group(slice, 0);
  for (const auto& other : others_) (void)other->wait(forever_ns);
}

void HostExecutor::ask_to_leave() noexcept {
  auto* const line = reinterpret_cast<rk_executor_host_line*>(arena_.data() + offset_);
  // relaxed: the words stand alone
  std::atomic_ref(line->leave_slice)
      .store(running_slice_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

bool HostExecutor::wait_for_old(std::uint64_t timeout_ns) {
  // Asked again, because a slice that is just beginning has not said its number.
  constexpr std::uint64_t asking_ns = 200'000;
  for (std::uint64_t waited_ns = 0; waited_ns < timeout_ns; waited_ns += asking_ns) {
    ask_to_leave();
    if (worker_.wait_for_current(std::min(asking_ns, timeout_ns - waited_ns))) return true;
  }
  return false;
}

}  // namespace ringkernel::native
