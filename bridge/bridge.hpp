/// The Asio loop that moves what no waiting thread moves: one duty cycle per turn over all
/// channels, then an idle strategy; blocked when nothing is in flight that needs it.
///
/// Threading: duty cycles by one thread at a time (others get 0 at once), the rest by any thread.
/// Memory ordering: `wake` and `sleep` shake hands, store then load; see docs/PROTOCOL.md, "Who
/// is awake".
/// Ownership: shares the channels until `remove`; borrows executors and clock.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "bridge/channel/channel.hpp"
#include "bridge/clock.hpp"
#include "bridge/idle.hpp"

namespace ringkernel::bridge {

/// Something slow that the duty cycle looks after: a deactivation or termination under way.
class Watch {
 public:
  virtual ~Watch() = default;
  /// One look; must not block. May call `Bridge::remove`. True when it is over. Where it throws
  /// std::bad_alloc it is looked at again.
  virtual bool poll(std::uint64_t now_ns) = 0;

 private:
  friend class WatchList;
  std::unique_ptr<Watch> next_;
};

/// Watches one behind the other. Needs no memory.
class WatchList {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void push(std::unique_ptr<Watch> watch) noexcept;
  /// Looks at each. Returns how many are over, and gone.
  std::size_t poll(std::uint64_t now_ns) noexcept;

 private:
  std::unique_ptr<Watch> first_;
};

class Bridge final : public Waker {
 public:
  explicit Bridge(const Clock& clock, const IdleLimits& idle = {});
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;
  ~Bridge();

  /// Starts the loop on a thread of its own. Without it the owner calls `do_work`.
  void start();
  /// Ends the loop and forgets what it served: a duty cycle finds no channel then. Idempotent.
  void stop() noexcept;

  // These two change nothing where they throw std::bad_alloc.
  void add(Executor& executor);
  void add(std::shared_ptr<Channel> channel);
  void remove(const Channel& channel) noexcept;
  /// The channels are removed already. When this returns nobody looks at the executor any more.
  void remove(const Executor& executor) noexcept;
  /// Also after `stop`: then it is polled to its end before this returns.
  void watch(std::unique_ptr<Watch> watch) noexcept;

  /// One duty cycle: outputs, queues, deadlines, slices that ended with work left, watches. Returns
  /// how much it did; 0 = idle. Never blocks.
  std::size_t do_work();
  /// Which channels a duty cycle drains: those that need the bridge, or, for a thread that waits
  /// for the answers of any channel, all.
  enum class Drain : std::uint8_t { needed, all };
  /// The same without the watches.
  std::size_t serve_channels(Drain drain);

  /// Wakes the loop if it sleeps. The caller stands behind a full fence.
  void wake() noexcept override;

 private:
  struct Served {
    Executor* executor;
    std::vector<std::shared_ptr<Channel>> channels;  // by kernel index
  };

  std::size_t poll_watches() noexcept;
  void loop();
  /// When the loop has work: 0 = it has already, no_deadline = when it is woken.
  [[nodiscard]] std::uint64_t needed_at_ns() const;
  void sleep(std::uint64_t sleep_ns);

  const Clock& clock_;
  IdleStrategy idle_;
  /// Runs nothing: the loop sleeps in it, because to end that needs no memory.
  boost::asio::io_context io_context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_context_.get_executor()};
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> asleep_{false};

  mutable std::mutex duty_mutex_;  // held while the channels are served
  std::vector<Served> served_;

  mutable std::mutex watch_mutex_;  // taken before duty_mutex_, never after
  WatchList watches_;
};

}  // namespace ringkernel::bridge
