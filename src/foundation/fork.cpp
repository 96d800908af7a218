#include "foundation/fork.hpp"

#include <pthread.h>

#include <utility>

namespace ringkernel {
namespace {

void begin_generation() { fork_generation.fetch_add(1, std::memory_order_relaxed); }

[[gnu::constructor]] void watch_forks() { pthread_atfork(nullptr, nullptr, begin_generation); }

/// Reachable, so that nobody takes it for lost.
struct ForEver {
  std::shared_ptr<const void> object;
  ForEver* next;
};
std::atomic<ForEver*> for_ever{nullptr};

}  // namespace

// Here, so that whoever marks an object has the handler linked in.
ForkMark::ForkMark() noexcept : generation_(fork_generation.load(std::memory_order_relaxed)) {}

Error made_before_fork() {
  return {Errc::invalid_state,
          "made before fork: the threads that serve it are those of the parent process"};
}

void keep_for_ever(std::shared_ptr<const void> object) {
  ForEver* const place = new ForEver{std::move(object), for_ever.load(std::memory_order_relaxed)};
  // relaxed: nobody reads what is kept
  while (!for_ever.compare_exchange_weak(place->next, place, std::memory_order_relaxed)) {
  }
}

}  // namespace ringkernel
