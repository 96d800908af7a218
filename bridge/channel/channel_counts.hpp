/// How many messages of a channel were accepted, and how they ended: of ringkernel/metrics.def, the
/// counters that are added to here.
///
/// Threading: those of senders have one writer at a time (send lock); so have `replied`, `faulted`
/// and `late` (consume lock). The others are rare: any thread adds to them. All are read by any
/// thread.
/// Memory ordering: metrics are relaxed. An outcome is counted before its receiver has it.
#pragma once

#include <atomic>
#include <cstdint>

namespace ringkernel::bridge {

/// As they are at one moment. All only grow.
struct ChannelCounters {
#define RK_SENDER_COUNTER(name, help) std::uint64_t name = 0;
#define RK_ENDING_COUNTER(name, help) std::uint64_t name = 0;
#include "ringkernel/metrics.def"
  std::uint64_t failed = 0;  ///< messages that ended with an error

  /// Grows whenever one of them does.
  [[nodiscard]] std::uint64_t sum() const noexcept {
    std::uint64_t sum = failed;
#define RK_SENDER_COUNTER(name, help) sum += name;
#define RK_ENDING_COUNTER(name, help) sum += name;
#include "ringkernel/metrics.def"
    return sum;
  }
};

struct ChannelCounts {
#define RK_SENDER_COUNTER(name, help) std::atomic<std::uint64_t> name{0};
#include "ringkernel/metrics.def"
  // Another thread's than the senders': on a line of its own.
  alignas(64) std::atomic<std::uint64_t> faulted{0};  // ended with an error of the device
  std::atomic<std::uint64_t> ended{0};                // ended with an error of the host
#define RK_ENDING_COUNTER(name, help) std::atomic<std::uint64_t> name{0};
#include "ringkernel/metrics.def"

  /// Messages accepted whose outcome is not known yet; never less than the truth.
  [[nodiscard]] std::uint64_t unanswered() const noexcept {
    // The outcomes are read first: what is accepted in between makes the result too large, not too
    // small. acquire: keeps that order; the counts are stored relaxed and publish nothing.
    const auto load = [](const auto& word) { return word.load(std::memory_order_acquire); };
    const std::uint64_t outcomes = load(replied) + load(faulted) + load(ended);
    return load(accepted) - outcomes;
  }
  [[nodiscard]] bool idle() const noexcept { return unanswered() == 0; }

  [[nodiscard]] ChannelCounters metrics() const noexcept {
    const auto load = [](const auto& word) { return word.load(std::memory_order_relaxed); };
    ChannelCounters counters;
#define RK_SENDER_COUNTER(name, help) counters.name = load(name);
#define RK_ENDING_COUNTER(name, help) counters.name = load(name);
#include "ringkernel/metrics.def"
    counters.failed = load(faulted) + load(ended);
    return counters;
  }
};

}  // namespace ringkernel::bridge
