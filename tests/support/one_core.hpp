/// Threads of a test on one core, where what spins keeps the others from running.
#pragma once

#include <sched.h>

namespace ringkernel::testing {

/// Runs this thread, and those that it makes, on the core where it is.
class OnOneCore {
 public:
  OnOneCore() {
    sched_getaffinity(0, sizeof all_, &all_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OnOneCore() { sched_setaffinity(0, sizeof all_, &all_); }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;

 private:
  cpu_set_t all_{};
};

}  // namespace ringkernel::testing
