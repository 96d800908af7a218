/// What a channel counts: of ringkernel/figures.def, the counters that are added to here.
///
/// Threading: any thread.
/// Memory ordering: relaxed: figures, which carry no data with them. Channel::unanswered reads some
/// of them in an order.
#pragma once

#include <atomic>
#include <cstdint>

namespace ringkernel::bridge {

/// As they are at one moment. All only grow.
struct ChannelCounters {
#define RK_SENDER_COUNTER(name, help) std::uint64_t name = 0;
#define RK_ENDING_COUNTER(name, help) std::uint64_t name = 0;
#include "ringkernel/figures.def"
  std::uint64_t failed = 0;  ///< messages that ended with an error

  /// Grows whenever one of them does.
  [[nodiscard]] std::uint64_t sum() const noexcept {
    std::uint64_t sum = failed;
#define RK_SENDER_COUNTER(name, help) sum += name;
#define RK_ENDING_COUNTER(name, help) sum += name;
#include "ringkernel/figures.def"
    return sum;
  }
};

/// Where they are counted. Single writers: those of senders under the send lock; `replied`,
/// `faulted`, `late` under the consume lock. The others are rare enough to be added to by anybody.
struct CountedByChannel {
#define RK_SENDER_COUNTER(name, help) std::atomic<std::uint64_t> name{0};
#include "ringkernel/figures.def"
  alignas(64) std::atomic<std::uint64_t> faulted{0};  // messages the device answered with an error
  std::atomic<std::uint64_t> ended{0};                // messages ended with an error by the host
#define RK_ENDING_COUNTER(name, help) std::atomic<std::uint64_t> name{0};
#include "ringkernel/figures.def"

  [[nodiscard]] ChannelCounters read() const noexcept {
    const auto load = [](const auto& word) { return word.load(std::memory_order_relaxed); };
    ChannelCounters counters;
#define RK_SENDER_COUNTER(name, help) counters.name = load(name);
#define RK_ENDING_COUNTER(name, help) counters.name = load(name);
#include "ringkernel/figures.def"
    counters.failed = load(faulted) + load(ended);
    return counters;
  }
};

}  // namespace ringkernel::bridge
