/// What a `MindRuntime` is: a runtime, its queues, and the ops that are unfinished.
///
/// An op is handed to the device by `async_call`, one op of a queue at a time, so that the ring has
/// the order of the queue. Or by `call` on the thread that gives it, which is faster: if it depends
/// on nothing and that thread waits for it; natively also if nothing else is unfinished and ops are
/// short, for `async_call` would run it there as well.
///
/// Threading: any thread. The lock is held for decisions only: not while ops are handed out, nor
/// while anybody waits. Whoever brings an answer of the device adds it to a list; the threads that
/// hand ops out take note of what is there; if there is none, the runtime's service thread does. To
/// hand out runs nothing of the user's and waits for nothing but a copy of the host's that is under
/// way.
/// Ownership: shared with operations that were not started yet; `close` ends everything else.
#pragma once

#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "foundation/fork.hpp"
#include "mind/answers.hpp"
#include "mind/call.hpp"
#include "mind/schedule.hpp"
#include "mind/short_ops.hpp"
#include "ringkernel/kernel.hpp"
#include "ringkernel/mind_runtime.hpp"
#include "ringkernel/runtime.hpp"

namespace ringkernel::detail {

class MindState {
 public:
  using Done = std::function<void(Result<void>)>;

  [[nodiscard]] static Result<std::shared_ptr<MindState>> open(BackendTarget target,
                                                               MindOptions options);
  MindState(RingKernelRuntime runtime, MindOptions options, mind::Place place);
  MindState(const MindState&) = delete;
  MindState& operator=(const MindState&) = delete;
  ~MindState();

  /// Whether it was made before a fork: then nothing but this may be asked.
  [[nodiscard]] bool is_foreign() const noexcept { return mark_.is_foreign(); }
  [[nodiscard]] RingKernelRuntime& runtime() noexcept { return runtime_; }
  [[nodiscard]] const mind::Place& place() const noexcept { return place_; }
  /// Whether an op with these options can be given now.
  [[nodiscard]] Result<void> check(const OpOptions& options) const;

  /// Runs the op and waits for its end.
  Result<void> run(MindCall call);
  /// Gives the op; `done` is called once, on any thread, also from within.
  void start(MindCall call, Done done);
  /// An asynchronous op that was refused before it was given.
  void refuse(const Error& error);

  /// Waits until the ops given before have ended that are in the way of a copy.
  Result<void> settle(const Tensor& tensor, bool for_write, std::chrono::nanoseconds timeout);
  Result<void> synchronize(std::chrono::nanoseconds timeout);
  [[nodiscard]] Result<void> health() const;
  Result<void> recover();
  /// Ends everything. Once. Needs no memory.
  void close() noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Ticket = mind::Ticket;

  struct Given {
    MindCall call;
    Done done;
    // Of one, wherever it stands: here, in the order of its queue, or among those that are
    // answered.
    std::list<Ticket> place{};
    Result<void> result{};  // when it is answered, or has ended
    bool handed_out = false;
    bool asynchronous = false;
  };
  using Ops = std::map<Ticket, Given>;
  /// The handler of an op that is handed out.
  struct Answered;
  class NoteTaker;
  struct Queue {
    Kernel kernel;
    std::list<Ticket> order;  // ready, not handed out
    bool being_pumped = false;
  };
  /// Ops that have ended, to be told once the lock is free. They take their nodes along: to end
  /// needs no memory.
  using Told = Ops;

  Result<void> launch_queues();
  Ticket give(MindCall call, Done done);      // lock held
  [[nodiscard]] Result<void> usable() const;  // lock held
  [[nodiscard]] std::chrono::nanoseconds timeout_of(const Given& op) const noexcept;
  /// Whether the op would run on the calling thread, and has a timeout of its own to keep.
  [[nodiscard]] bool is_watched(const Given& op) const noexcept;
  /// Whether an op that nobody waits for is run by the thread that gives it; lock held.
  [[nodiscard]] bool pays_here(const Given& op) noexcept;
  /// Runs it on this thread. The lock is let go of meanwhile.
  Result<void> call_here(Lock& lock, Ticket ticket);
  void put_in_order(Ticket ready) noexcept;  // lock held
  /// Hands out what is in order, and tells what could not be. The lock is let go of meanwhile.
  void pump(Lock& lock, Told& told) noexcept;
  void pump_and_tell(Lock& lock) noexcept;  // the lock is held again afterwards
  /// At most `left`, which it counts down.
  void pump_queue(Lock& lock, Queue& queue, Told& told, std::size_t& left) noexcept;
  [[nodiscard]] bool hand_out(Kernel queue, Given& op) noexcept;
  /// The device has answered: for whoever takes note. Takes no lock but its own.
  void answered(Given& op, Result<void> result) noexcept;
  /// Ends what was answered. False if nothing was, or if this thread `leaves`; what it leaves is
  /// another's. Lock held.
  bool take_answers(Told& told, bool leaves) noexcept;
  /// Hands out, and takes note, because it was called.
  void take_notes() noexcept;
  /// The op has ended, with its own error.
  void end(Lock& lock, Ticket ticket, Result<void> result) noexcept;
  void end_one(Ticket ticket, Result<void> result, Told& told) noexcept;  // lock held
  /// What the op's error says to the user, and whether it may have written; lock held.
  Error noted(const Given& op, Error error, bool& doubtful) noexcept;
  void poison(const Error& reason, Told& told) noexcept;  // lock held
  /// Ends what was not handed out. Lock held.
  void end_waiting(const Error& reason, Told& told) noexcept;
  void tell(Lock& lock, Told& told) noexcept;

  template <class Settled>
  Result<void> wait_until(Lock& lock, std::chrono::nanoseconds timeout, Settled settled);

  const ForkMark mark_;
  RingKernelRuntime runtime_;
  const MindOptions options_;
  const mind::Place place_;
  boost::asio::io_context context_;  // of handlers that are called at once: it runs nothing

  std::mutex recover_mutex_;  // held for a recovery: the second one waits for the first

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  mind::Schedule schedule_;
  Ops ops_;                    // given and not ended
  std::vector<Ticket> ready_;  // of end_one, with room for all of them
  std::vector<Queue> queues_;
  std::optional<Error> poison_;
  /// Outputs that ops may have been writing when they failed; with room for those of all.
  std::vector<Tensor> doubtful_;
  std::optional<Error> first_error_;
  mind::ShortOps short_ops_;  // of those that ran on the threads that gave them
  bool closed_ = false;

  const std::shared_ptr<NoteTaker> note_taker_;
  mind::Answers answers_;
};

}  // namespace ringkernel::detail
