/// What a `MindRuntime` is: a runtime, its queues, and the ops that are unfinished.
///
/// An op is handed to the device by `async_call`, one op of a queue at a time, so that the ring has
/// the order of the queue; or, if it depends on nothing and somebody waits for it, by `call` on the
/// waiting thread, which is faster.
///
/// Threading: any thread. The lock is held for decisions only: not while ops are handed out, nor
/// while anybody waits. What the device answers is taken note of on a thread of its own, which runs
/// nothing of the user's and waits for nothing but a copy of the host's that is under way.
/// Ownership: shared with operations that were not started yet; `close` ends everything else.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "foundation/fork.hpp"
#include "mind/call.hpp"
#include "mind/schedule.hpp"
#include "ringkernel/kernel.hpp"
#include "ringkernel/mind_runtime.hpp"
#include "ringkernel/runtime.hpp"

namespace ringkernel::detail {

class MindState {
 public:
  using Done = std::function<void(const Result<void>&)>;

  [[nodiscard]] static Result<std::shared_ptr<MindState>> open(BackendTarget target,
                                                               MindOptions options);
  MindState(RingKernelRuntime runtime, MindOptions options, mind::Place place);
  MindState(const MindState&) = delete;
  MindState& operator=(const MindState&) = delete;
  ~MindState() = default;

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
  /// Ends everything. Once.
  void close();

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Ticket = mind::Ticket;

  struct Given {
    MindCall call;
    Done done;
    bool handed_out = false;
    bool asynchronous = false;
  };
  struct Queue {
    Kernel kernel;
    std::deque<Ticket> order;  // ready, not handed out
    bool being_pumped = false;
  };
  /// Who is to be told of what, once the lock is free.
  using Told = std::vector<std::pair<Done, Result<void>>>;

  Result<void> launch_queues();
  Ticket give(MindCall call, Done done);      // lock held
  [[nodiscard]] Result<void> usable() const;  // lock held
  [[nodiscard]] std::chrono::nanoseconds timeout_of(const Given& op) const noexcept;
  /// Whether the op would run on the calling thread, and has a timeout of its own to keep.
  [[nodiscard]] bool is_watched(const Given& op) const noexcept;
  void put_in_order(std::span<const Ticket> ready);  // lock held
  /// Hands out what is in order. The lock is let go of meanwhile.
  void pump(Lock& lock);
  void pump_queue(Lock& lock, Queue& queue);
  /// The op has ended, with its own error.
  void end(Lock& lock, Ticket ticket, Result<void> result);
  void end_one(Ticket ticket, Result<void> result, Told& told);  // lock held
  void poison(const Error& reason, Told& told);                  // lock held
  /// Ends what was not handed out. Lock held.
  void end_waiting(const Error& reason, Told& told);
  void tell(Lock& lock, Told& told);

  template <class Settled>
  Result<void> wait_until(Lock& lock, std::chrono::nanoseconds timeout, Settled settled);

  const ForkMark mark_;
  RingKernelRuntime runtime_;
  const MindOptions options_;
  const mind::Place place_;
  boost::asio::thread_pool notes_{1};

  std::mutex recover_mutex_;  // held for a recovery: the second one waits for the first

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  mind::Schedule schedule_;
  std::map<Ticket, Given> ops_;  // given and not ended
  std::vector<Queue> queues_;
  std::optional<Error> poison_;
  std::vector<Tensor> doubtful_;  // outputs that ops may have been writing when they failed
  std::optional<Error> first_error_;
  bool closed_ = false;
};

}  // namespace ringkernel::detail
