#include "bridge/channel/late.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "bridge/channel/channel.hpp"

namespace ringkernel::bridge {
namespace {

using namespace std::chrono_literals;

constexpr auto try_period = 1ms;
constexpr int last_tries = 2000;  // of the last bridge

struct List {
  std::mutex mutex;  // guards the next two
  std::shared_ptr<Late> first;
  std::vector<Waker*> bridges;
  std::atomic<bool> is_any{false};  // changed with the lock
};

/// Never destroyed: threads of others may use it when the process ends. The child of a fork gets an
/// empty one: the bridges are its parent's.
List& list() noexcept {
  alignas(List) static std::byte memory[sizeof(List)];
  static List& only = []() -> List& {
    pthread_atfork(nullptr, nullptr, [] { new (memory) List; });
    return *new (memory) List;
  }();
  return only;
}

}  // namespace

void Late::see_to(std::shared_ptr<Late> what) noexcept {
  while (!what->try_now(what)) {
    {
      const std::lock_guard lock(list().mutex);
      if (!list().bridges.empty()) {
        what->next_ = std::move(list().first);
        list().first = std::move(what);
        list().is_any.store(true, std::memory_order_relaxed);
        full_fence();  // pairs with Bridge::sleep
        for (Waker* const bridge : list().bridges) bridge->wake();
        return;
      }
    }
    std::this_thread::sleep_for(try_period);
  }
}

void Late::add(Waker& bridge) {
  const std::lock_guard lock(list().mutex);
  list().bridges.push_back(&bridge);
}

void Late::remove(const Waker& bridge) noexcept {
  bool is_last = false;
  {
    const std::lock_guard lock(list().mutex);
    if (std::erase(list().bridges, &bridge) == 0) return;
    is_last = list().bridges.empty();
    if (list().first != nullptr)  // which this one may have put back after the others had looked
      for (Waker* const other : list().bridges) other->wake();
  }
  for (int i = 0; is_last && is_any() && i < last_tries; ++i)
    if (try_all() == 0) std::this_thread::sleep_for(try_period);
}

bool Late::is_any() noexcept {
  return list().is_any.load(std::memory_order_relaxed);  // behind a fence, or looked at again
}

std::size_t Late::try_all() noexcept {
  std::shared_ptr<Late> next;
  {
    const std::lock_guard lock(list().mutex);
    next = std::move(list().first);
    list().is_any.store(false, std::memory_order_relaxed);
  }
  std::size_t done = 0;
  while (next != nullptr) {
    std::shared_ptr<Late> what = std::exchange(next, std::move(next->next_));
    if (what->try_now(what)) {
      ++done;
      continue;
    }
    const std::lock_guard lock(list().mutex);
    what->next_ = std::move(list().first);
    list().first = std::move(what);
    list().is_any.store(true, std::memory_order_relaxed);
  }
  return done;
}

}  // namespace ringkernel::bridge
