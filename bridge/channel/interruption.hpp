/// How a thread that waits looks whether it is to give up (ringkernel/interrupt.hpp).
///
///     const Interruption interruption;
///     sleep_until(interruption.wakes_at(deadline_ns, now_ns));
///     if (interruption.came()) give_up();
///
/// Threading: of the thread that waits.
#pragma once

#include <algorithm>
#include <boost/asio/error.hpp>
#include <chrono>
#include <cstdint>

#include "ringkernel/interrupt.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::bridge {

class Interruption {
 public:
  /// Until when to sleep at most: a deadline, or the next look. Without an InterruptScope: the
  /// deadline.
  [[nodiscard]] std::uint64_t wakes_at(std::uint64_t deadline_ns,
                                       std::uint64_t now_ns) const noexcept {
    if (asked_ == nullptr) return deadline_ns;
    return std::min(deadline_ns, now_ns + static_cast<std::uint64_t>(
                                              std::chrono::nanoseconds(interrupt_period).count()));
  }
  /// For after such a sleep, without a lock.
  [[nodiscard]] bool came() const noexcept { return asked_ != nullptr && asked_(); }

  [[nodiscard]] static Error error() {
    return {error_code(boost::asio::error::operation_aborted), "interrupted"};
  }

 private:
  const InterruptScope::Asked asked_ = InterruptScope::current();
};

/// The same for a wait that polls.
///
///     PolledInterruption interruption(now_ns);
///     while (!is_there())
///       if (interruption.came(now_ns)) return Interruption::error();
class PolledInterruption {
 public:
  explicit PolledInterruption(std::uint64_t now_ns) noexcept : asks_ns_(next(now_ns)) {}

  /// For between two looks, without a lock; it asks once in a period.
  [[nodiscard]] bool came(std::uint64_t now_ns) noexcept {
    if (now_ns < asks_ns_) return false;
    asks_ns_ = next(now_ns);
    return interruption_.came();
  }

 private:
  [[nodiscard]] std::uint64_t next(std::uint64_t now_ns) const noexcept {
    return interruption_.wakes_at(~std::uint64_t{0}, now_ns);
  }

  const Interruption interruption_;
  std::uint64_t asks_ns_;
};

/// Zero once it is over.
[[nodiscard]] inline std::chrono::nanoseconds time_left(std::uint64_t deadline_ns,
                                                        std::uint64_t now_ns) noexcept {
  return std::chrono::nanoseconds(deadline_ns > now_ns ? deadline_ns - now_ns : 0);
}

}  // namespace ringkernel::bridge
