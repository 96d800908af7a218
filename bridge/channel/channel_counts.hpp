/// How many messages of a channel were accepted, and how they ended.
///
/// Threading: `accepted` has one writer at a time (send lock); so have `replied`, `faulted` and
/// `late` (consume lock). The others are rare: any thread adds to them. All are read by any thread.
/// Memory ordering: figures are relaxed. An outcome is counted before its receiver has it.
#pragma once

#include <atomic>
#include <cstdint>

#include "bridge/channel/channel_types.hpp"

namespace ringkernel::bridge {

struct ChannelCounts {
  std::atomic<std::uint64_t> accepted{0};
  // Another thread's than the senders': on a line of its own.
  alignas(64) std::atomic<std::uint64_t> replied{0}, faulted{0}, late{0};
  std::atomic<std::uint64_t> ended{0}, dropped{0}, expired{0}, cancelled{0};

  /// Messages accepted whose outcome is not known yet; never less than the truth.
  [[nodiscard]] std::uint64_t unanswered() const noexcept {
    // The outcomes are read first: what is accepted in between makes the result too large, not too
    // small. acquire: keeps that order; the counts are stored relaxed and publish nothing.
    const auto load = [](const auto& word) { return word.load(std::memory_order_acquire); };
    const std::uint64_t outcomes = load(replied) + load(faulted) + load(ended);
    return load(accepted) - outcomes;
  }
  [[nodiscard]] bool idle() const noexcept { return unanswered() == 0; }

  [[nodiscard]] ChannelCounters figures() const noexcept {
    const auto load = [](const auto& word) { return word.load(std::memory_order_relaxed); };
    return {load(accepted), load(replied),  load(faulted) + load(ended), load(late), load(dropped),
            load(expired),  load(cancelled)};
  }
};

}  // namespace ringkernel::bridge
