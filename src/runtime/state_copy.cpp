// The memory of a ring kernel from outside: while it rests, or in a pause between two messages.
#include <utility>
#include <vector>

#include "bridge/channel/interruption.hpp"
#include "bridge/idle.hpp"
#include "runtime/kernel_state.hpp"

namespace ringkernel::detail {
namespace {

std::string hexadecimal(const std::vector<std::byte>& bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text = "\"";
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text + "\"";
}

Result<void> check_state_bytes(const std::string& id, std::size_t has, std::size_t given) {
  if (has == given) return {};
  return Error(Errc::invalid_argument, "the state of kernel '" + id + "' has " +
                                           std::to_string(has) + " bytes, not " +
                                           std::to_string(given));
}

}  // namespace

Result<void> KernelState::read_state(std::span<std::byte> bytes) {
  return lifecycle_.at_rest(Lifecycle::Rest::launched_or_deactivated, [&]() -> Result<void> {
    RK_TRY_VOID(check_state_bytes(id_, memory_->rings().state_bytes, bytes.size()));
    return memory_->read_state(bytes, runtime_->options().termination_timeout);
  });
}

Result<void> KernelState::write_state(Bytes bytes) {
  return lifecycle_.at_rest(Lifecycle::Rest::launched_or_deactivated, [&]() -> Result<void> {
    RK_TRY_VOID(check_state_bytes(id_, memory_->rings().state_bytes, bytes.size()));
    return memory_->write_state(bytes);
  });
}

Result<std::string> KernelState::state_json(std::chrono::nanoseconds timeout) {
  KernelProgram::Current program;
  std::vector<std::byte> bytes;
  const auto copy = [&]() -> Result<void> {
    if (memory_->rings().state_bytes == 0)
      return Error(Errc::state_mismatch,
                   "kernel '" + id_ + "' of program '" + program_.name() + "' has no state");
    program = program_.current();  // no swap changes it during the pause, if it changes the state
    bytes.resize(memory_->rings().state_bytes);
    return memory_->read_state(bytes, timeout);
  };
  RK_TRY(ended, lifecycle_.pause_for(runtime_->deadline_ns(timeout), copy));
  if (ended != Lifecycle::Pause::copied)
    return Error(Errc::busy, "kernel '" + id_ + "': " +
                                 (ended == Lifecycle::Pause::not_obeyed
                                      ? "the device is busy with a message, and does not let go of "
                                        "the state"
                                      : "its state is being copied for another"));
  if (program.behaviour == nullptr) return hexadecimal(bytes);
  return program.definition->schema()->state_json(*program.behaviour->state, bytes);
}

Result<std::shared_ptr<const Arena::Region>> KernelState::share_region(
    std::uint64_t bytes, const std::function<void(std::byte*, std::uint64_t)>& fill) {
  std::shared_ptr<const Arena::Region> region;
  RK_TRY_VOID(lifecycle_.at_rest(Lifecycle::Rest::launched, [&]() -> Result<void> {
    RK_TRY(shared, memory_->share(bytes, fill));
    region = shared;
    return {};
  }));
  return region;
}

Result<std::uint64_t> KernelState::add_region(std::uint64_t bytes,
                                              std::shared_ptr<const Arena::Region> shared) {
  std::uint64_t offset = 0;
  RK_TRY_VOID(lifecycle_.at_rest(Lifecycle::Rest::launched, [&]() -> Result<void> {
    RK_TRY(added, memory_->add(bytes, std::move(shared)));
    offset = added;
    return {};
  }));
  return offset;
}

Result<void> KernelState::wait_for_accepted(std::uint64_t deadline_ns) {
  const std::uint64_t accepted = channel_->counters().accepted;
  bridge::IdleStrategy idle;
  bridge::PolledInterruption interruption(runtime_->clock().now_ns());
  for (;;) {
    const bridge::ChannelCounters now = channel_->counters();
    if (now.replied + now.failed >= accepted) return {};
    const std::uint64_t now_ns = runtime_->clock().now_ns();
    if (now_ns >= deadline_ns)
      return Error(Errc::deadline_exceeded, "while messages in flight ran on '" + id_ + "'");
    if (interruption.came(now_ns)) return bridge::Interruption::error();
    if (runtime_->bridge().serve_channels(bridge::Bridge::Drain::all) != 0) idle.reset();
    idle.rest();
  }
}

Result<void> KernelState::copy_region(std::chrono::nanoseconds timeout, const RegionCopy& copy) {
  const std::uint64_t deadline_ns = runtime_->deadline_ns(timeout);
  RK_TRY_VOID(wait_for_accepted(deadline_ns));
  const Result<Lifecycle::Pause> ended =
      lifecycle_.pause_for(deadline_ns, [&] { return memory_->copy_region(copy, timeout); });
  if (ended && *ended == Lifecycle::Pause::copied) return {};
  if (ended) return Error(Errc::deadline_exceeded, "while a message ran on '" + id_ + "'");
  if (!(ended.error() == Errc::invalid_state)) return ended.error();
  return lifecycle_.end_reason();
}

}  // namespace ringkernel::detail
