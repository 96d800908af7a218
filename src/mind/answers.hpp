/// Ops that the device has answered and nobody has taken note of, and who will: a thread that is at
/// it anyway (a taker), or, where there is none, the one that waits to be called.
///
/// Why none is left lying: an answer that comes while there is a taker is found by it, since it
/// stops being one only under the lock, having seen the list empty; one that comes while there is
/// none calls the thread that waits.
///
/// Threading: any thread; one waits to be called. The lock is innermost: nothing is called under
/// it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>

#include "mind/schedule.hpp"

namespace ringkernel::mind {

class Answers {
 public:
  /// Adds the one op in `place`. Needs no memory.
  void add(std::list<Ticket>& place) noexcept;

  /// From here on this thread is a taker.
  void begin_taking() noexcept;
  /// What was added. The thread is a taker no more if it `leaves`, as it does where there is
  /// nothing.
  [[nodiscard]] std::list<Ticket> take(bool& leaves) noexcept;

  /// For a taker: there is something to hand out.
  void call() noexcept;
  /// Waits for that, or for an answer that finds no taker. False: `end` was called.
  [[nodiscard]] bool wait_for_call() noexcept;
  void end() noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable called_;
  std::list<Ticket> answered_;
  std::uint32_t takers_ = 0;
  bool is_called_ = false;  // the thread that waits is on its way
  bool has_ended_ = false;
};

}  // namespace ringkernel::mind
