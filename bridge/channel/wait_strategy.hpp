/// How a thread waits for an answer: how long it polls, when it gives its core away, when it
/// leaves the rest to others, and whether polling for an asynchronous call pays.
///
/// It decides and rests; it does not know rings. The numbers of the innermost loop are constants,
/// because each poll of each call passes them. Everything else is virtual: a channel may be given
/// another strategy.
///
/// Threading: any thread; a `Lead` belongs to one thread.
/// Memory ordering: the counts of assistance are relaxed: advice. A lost count costs one try.
/// Units: nanoseconds, as the names say.
#pragma once

#include <atomic>
#include <cstdint>

#include "bridge/idle.hpp"

namespace ringkernel::bridge {

/// What a waiting thread sees of the slice that is to answer it.
struct SliceView {
  bool is_starting = false;  ///< launched, and not begun yet
  bool tells_core = false;  ///< it says on which core it runs, and gives one back that it was given
  bool needs_core = false;  ///< it runs on this thread's core, or is about to
};

class alignas(64) WaitStrategy {
 public:
  /// Looks at the ring's position that make a poll; each is hardly more than a load.
  static constexpr std::uint32_t looks_per_poll = 4;
  /// Polls of a waiter that found somebody else leading, before it sleeps.
  static constexpr std::uint32_t follower_polls = 64;

  /// What to do behind some polls: poll on, give the core to anybody, give it to the slice, sleep
  /// for a moment, or stop waiting here.
  enum class Step : std::uint8_t { poll, yield, hand_over, sleep, stop };

  /// `spin_ns`: how long a waiting thread polls before it sleeps.
  explicit WaitStrategy(std::uint64_t spin_ns) noexcept : spin_ns_(spin_ns) {}
  WaitStrategy(const WaitStrategy&) = delete;
  WaitStrategy& operator=(const WaitStrategy&) = delete;
  virtual ~WaitStrategy() = default;

  /// Where a leader is: the thread that drains the output ring for all who wait.
  class Lead {
   public:
    /// Counts a poll. True: this one looks whether the slice needs the core.
    bool next_looks_at_core() noexcept { return ++polls_ % handover_polls == 1; }
    /// Whether it is time to look at the clock, the device and the host queue.
    [[nodiscard]] bool is_turn_over() const noexcept { return polls_ % turn_polls == 0; }
    /// Between two polls.
    void pause() const noexcept {
      if (polls_ > eager_polls) cpu_pause();
    }

   private:
    friend class WaitStrategy;

    std::uint32_t polls_ = 0;
    std::uint64_t start_ns_ = 0;
    bool was_starting_ = false;
  };
  /// At the end of a leader's turn, or when the slice needs the core.
  [[nodiscard]] virtual Step lead(Lead& lead, std::uint64_t now_ns,
                                  const SliceView& slice) const noexcept;

  /// Whether a thread that waits for plain messages goes on polling, and what it does in between.
  [[nodiscard]] virtual bool receives_on(std::uint64_t waited_ns) const noexcept;
  [[nodiscard]] virtual Step receive(const SliceView& slice) const noexcept;

  /// Does what `step` says.
  virtual void rest(Step step) const noexcept;

  // --- assistance: a thread that began an asynchronous call polls for its outcome -------------

  /// Whether that has paid lately. While it has not, most calls are left to others.
  [[nodiscard]] virtual bool assist_pays() noexcept;
  /// Polls between two looks at the clock, while assisting.
  static constexpr std::uint32_t assist_clock_polls = 32;
  /// Whether a thread that began to poll so long ago goes on.
  [[nodiscard]] virtual bool assists_on(std::uint64_t polled_ns) const noexcept;
  /// Whether an op took longer than it may keep a thread that did not ask to wait for it.
  [[nodiscard]] virtual bool is_long(std::uint64_t op_ns) const noexcept;
  /// Counts for `assist_pays`.
  virtual void note_assist(bool in_vain) noexcept;

 private:
  /// Polls between two looks at the clock, the device and the host queue while leading.
  static constexpr std::uint32_t turn_polls = 256;
  /// Polls between two looks whether the executor waits for this very core.
  static constexpr std::uint32_t handover_polls = 64;
  /// Polls without a pause in between: the length of a usual round trip.
  static constexpr std::uint32_t eager_polls = 200;

  const std::uint64_t spin_ns_;
  std::atomic<std::uint32_t> assist_pause_{0};   // calls to the next try
  std::atomic<std::uint32_t> assist_pauses_{0};  // in a row
};

}  // namespace ringkernel::bridge
