/// Calls that may wait: without the interpreter's lock, and ended by Ctrl-C.
#pragma once

#include <utility>

#include "python/nanobind.hpp"
#include "ringkernel/interrupt.hpp"

namespace ringkernel::python {

/// Whether a signal handler has raised: asked by a thread that waits without the lock.
[[nodiscard]] bool signal_has_raised() noexcept;

/// The same, asked by a thread that waits with the lock, which it gives to others for a moment.
[[nodiscard]] bool signal_has_raised_here() noexcept;

/// What `call()` gives, which must not touch a Python object.
template <class Call>
auto waiting(Call&& call) {
  const nb::gil_scoped_release unlocked;
  const InterruptScope interruptible(&signal_has_raised);
  return std::forward<Call>(call)();
}

/// The same with the lock, of a call that has nothing to wait for: giving it up and taking it again
/// would cost as much as a short op. If it has to wait all the same, others get the lock meanwhile.
template <class Call>
auto at_once(Call&& call) {
  const InterruptScope interruptible(&signal_has_raised_here);
  return std::forward<Call>(call)();
}

}  // namespace ringkernel::python
