/// Ops that the device has answered and nobody has taken note of, and who will: a thread that is at
/// it anyway (a taker), or, where there is none, somebody who is called. At the end that is a
/// thread that waits.
///
/// Why none is left lying: an answer that comes while there is a taker is found by it, since it
/// stops being one only under the lock, having seen the list empty; one that comes while there is
/// none calls somebody.
///
/// Threading: any thread; one waits at the end. The lock is held for `call`, which takes none but
/// those of Asio's queue.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <utility>

#include "mind/schedule.hpp"

namespace ringkernel::mind {

class Answers {
 public:
  /// `call` makes somebody a taker, soon. It must not throw.
  explicit Answers(std::function<void()> call) : call_(std::move(call)) {}

  /// Adds the one op in `place`. Needs no memory.
  void add(std::list<Ticket>& place) noexcept;

  /// From here on this thread is a taker.
  void begin_taking() noexcept;
  /// What was added. The thread is a taker no more if it `leaves`, as it does where there is
  /// nothing.
  [[nodiscard]] std::list<Ticket> take(bool& leaves) noexcept;

  /// For a taker: there is something to hand out.
  void call() noexcept;

  /// From here on nobody is called: this thread waits, and takes what there is before that.
  void end_calls() noexcept;
  /// Waits for a call that came since it returned last.
  void wait_for_call() noexcept;

 private:
  void call_locked() noexcept;

  const std::function<void()> call_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable called_;
  std::list<Ticket> answered_;
  std::uint32_t takers_ = 0;
  bool is_called_ = false;   // somebody is on the way
  bool has_ended_ = false;   // with calls: a thread waits
  bool is_to_wake_ = false;  // that one
};

}  // namespace ringkernel::mind
