/// An in-order queue of the driver, and the thread that alone gives it commands and asks for them.
/// Commands of several owners may go into one: `sliced`, copies and slices alternate.
///
/// Threading: any thread. Only the queue's own one, and the destructor's, are inside the driver.
/// Memory ordering: Ledger. What was written before `post` is seen by the command.
/// Ownership: commands refer to what outlives them, until their owner's ledger says that they have
/// ended. Of what a callback touches each has a share, because it may come behind that.
/// Errors: as of the owner's ledger.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/opencl/cl.hpp"
#include "backend/opencl/copy_bell.hpp"
#include "backend/opencl/driver_thread.hpp"

namespace ringkernel::opencl {

/// What has become of the commands of one owner, numbered by tickets from 1 on. Everybody reads it,
/// and nobody enters the driver for that.
class Ledger {
 public:
  /// `what`: of an error, "a slice" or "a copy". `way_back`: what its text ends with.
  explicit Ledger(const char* what, const char* way_back = "") noexcept
      : what_(what), way_back_(way_back) {}

  /// With whatever orders the owner's commands.
  [[nodiscard]] std::uint64_t next_ticket() noexcept {
    // relaxed: one thread at a time, and readers want no more than a number
    const std::uint64_t ticket = given_.load(std::memory_order_relaxed) + 1;
    given_.store(ticket, std::memory_order_relaxed);
    return ticket;
  }
  [[nodiscard]] std::uint64_t given() const noexcept {
    return given_.load(std::memory_order_relaxed);  // as above
  }
  /// Whether the command has ended, well or not, and all before it.
  [[nodiscard]] bool has_ended(std::uint64_t ticket) const noexcept {
    // acquire: what the command wrote, and failures; pairs with the release in note_end
    return ended_.load(std::memory_order_acquire) >= ticket;
  }
  [[nodiscard]] bool have_all_ended() const noexcept { return has_ended(given()); }
  /// The first failure of a command, from then on.
  [[nodiscard]] Result<void> failure() const;
  [[nodiscard]] bool has_failed() const noexcept {
    return has_failed_.load(std::memory_order_acquire);  // pairs with fail
  }

  void fail(const Error& error) noexcept;
  /// `status`: of the driver; below zero it is a failure. A command that is told of before one in
  /// front of it counts as ended with that: its result may rest on it.
  void note_end(std::uint64_t ticket, cl_int status) noexcept;

 private:
  const char* const what_;
  const char* const way_back_;
  std::atomic<std::uint64_t> given_{0};
  std::atomic<std::uint64_t> ended_{0};  // changed with the lock
  std::atomic<bool> has_failed_{false};
  mutable std::mutex mutex_;  // guards what follows
  Error failure_;
  std::vector<std::uint64_t> early_;  // told of before one in front of them
};

class DriverQueue {
 public:
  /// `calls_back`: the driver tells what has ended, and rings `bell`, if there is one. Else the
  /// thread has to be asked. `linger`: of the thread.
  DriverQueue(Queue queue, bool calls_back, std::shared_ptr<CopyBell> bell,
              std::chrono::nanoseconds linger);
  DriverQueue(const DriverQueue&) = delete;
  DriverQueue& operator=(const DriverQueue&) = delete;
  /// Waits for all commands, however long it takes.
  ~DriverQueue();

  /// Has the thread give what is waiting, and waits for that and for all commands.
  void end();

  [[nodiscard]] cl_command_queue get() const noexcept { return queue_.get(); }
  [[nodiscard]] bool calls_back() const noexcept { return calls_back_; }

  /// Gives the queue one or more commands, the event of the last one being what `enqueue` returns.
  using Enqueue = std::function<Result<Event>()>;
  /// Has the thread do so, and submit them. The ticket in the ledger of who is to be told. Where it
  /// throws nothing has happened.
  std::uint64_t post(const std::shared_ptr<Ledger>& owner, Enqueue enqueue);
  /// The same for the owner's last ticket, which nothing was posted for yet.
  void post_last(const std::shared_ptr<Ledger>& owner, Enqueue enqueue);

  [[nodiscard]] DriverThread& thread() noexcept { return *thread_; }

  /// Held around every command that is given to the queue, by threads that may be inside the
  /// driver: it may run what it is given inside the call, and then not bear two threads that give
  /// it something (Oclgrind ends the process).
  [[nodiscard]] std::unique_lock<std::mutex> lock_commands() {
    return std::unique_lock(commands_mutex_);
  }

 private:
  struct Command {
    std::shared_ptr<Ledger> owner;
    std::uint64_t ticket;
    Enqueue enqueue;
  };
  struct Running {
    std::shared_ptr<Ledger> owner;
    std::uint64_t ticket;
    Event event;  // none: it was never given to the driver
  };

  void post_locked(Command command);
  void do_next() noexcept;
  void give(Command& command) noexcept;
  /// Forgets what has ended, by the ledgers or, if it `asks`, by the driver. True: some run.
  bool reap(bool asks) noexcept;
  void call_back_unless_ended(const Running& running) noexcept;

  const Queue queue_;
  const bool calls_back_;
  const std::shared_ptr<CopyBell> bell_;  // null: nobody sleeps
  std::mutex commands_mutex_;
  std::mutex mutex_;  // guards what follows, and its order
  std::deque<Command> waiting_;
  std::deque<Running> running_;  // the thread's alone
  std::optional<DriverThread> thread_;
};

}  // namespace ringkernel::opencl
