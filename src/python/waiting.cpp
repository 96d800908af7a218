#include "python/waiting.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace ringkernel::python {
namespace {

std::atomic<bool> interpreter_ends{false};
std::atomic<std::thread::id> who_ends{};
std::atomic<int> locking{0};  // threads that are about to have the lock again

}  // namespace

bool Unlocked::is_locked_out() noexcept {
  return interpreter_ends && who_ends.load() != std::this_thread::get_id();
}

void Unlocked::begin_locking() noexcept {
  // A child has none of its parent's other threads.
  [[maybe_unused]] static const int forks = pthread_atfork(nullptr, nullptr, [] { locking = 0; });
  ++locking;  // before the look; pairs with end_interpreter
  if (!is_locked_out()) return;
  --locking;
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));  // until the process ends
}

void Unlocked::end_locking() noexcept { --locking; }

void Unlocked::end_interpreter() {
  who_ends = std::this_thread::get_id();
  interpreter_ends = true;  // before the look at the count; pairs with begin_locking
  PyThreadState* const thread = PyEval_SaveThread();
  while (locking > 0) std::this_thread::yield();
  PyEval_RestoreThread(thread);
}

bool signal_has_raised() noexcept {
  Unlocked::begin_locking();
  bool raised = false;
  {
    const nb::gil_scoped_acquire locked;
    raised = PyErr_CheckSignals() != 0;
  }
  Unlocked::end_locking();
  return raised;
}

bool signal_has_raised_here() noexcept {
  { const Unlocked others_turn; }
  return PyErr_CheckSignals() != 0;
}

}  // namespace ringkernel::python
