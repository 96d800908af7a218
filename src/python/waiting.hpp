/// Calls that may wait: without the interpreter's lock, and ended by Ctrl-C.
#pragma once

#include <utility>

#include "python/nanobind.hpp"
#include "ringkernel/interrupt.hpp"

namespace ringkernel::python {

/// Without the interpreter's lock while it lives. Once the interpreter ends, threads that would
/// take it again rest here for ever instead: Python would end them in the middle of a frame.
///
/// Threading: of the thread that has the lock.
/// Memory ordering: who takes the lock counts itself and looks whether the interpreter ends; who
/// ends it says so and waits for the count; both sequentially consistent, so that one sees the
/// other.
class Unlocked {
 public:
  Unlocked() noexcept : thread_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() {
    begin_locking();
    PyEval_RestoreThread(thread_);
    end_locking();
  }

  /// From here on only the calling thread, which has the lock, takes it; for `atexit`.
  static void end_interpreter();
  /// Whether the calling thread is not to take the lock any more.
  [[nodiscard]] static bool is_locked_out() noexcept;

 private:
  friend bool signal_has_raised() noexcept;
  static void begin_locking() noexcept;
  static void end_locking() noexcept;

  PyThreadState* const thread_;
};

/// Whether a signal handler has raised: asked by a thread that waits without the lock.
[[nodiscard]] bool signal_has_raised() noexcept;
/// The same, asked by a thread that waits with the lock, which it gives to others for a moment.
[[nodiscard]] bool signal_has_raised_here() noexcept;

/// Throws what a signal handler has raised, whatever the call has come to meanwhile.
inline void raise_signals() {
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
}

/// What `call()` gives, which must not touch a Python object.
template <class Call>
auto waiting(Call&& call) {
  auto result = [&] {
    const Unlocked unlocked;
    const InterruptScope interruptible(&signal_has_raised);
    return std::forward<Call>(call)();
  }();
  raise_signals();
  return result;
}

/// The same with the lock, of a call that has nothing to wait for: giving it up and taking it again
/// would cost as much as a short op. If it has to wait all the same, others get the lock meanwhile.
template <class Call>
auto at_once(Call&& call) {
  auto result = [&] {
    const InterruptScope interruptible(&signal_has_raised_here);
    return std::forward<Call>(call)();
  }();
  raise_signals();
  return result;
}

}  // namespace ringkernel::python
