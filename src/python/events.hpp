/// What happens in a runtime, for pyringkernel/events.py.
///
/// Threading: with the interpreter's lock held.
#pragma once

#include "python/nanobind.hpp"
#include "ringkernel/events.hpp"

namespace ringkernel::python {

/// `repeat_period` in seconds; ValueError if it is negative or no number.
[[nodiscard]] EventOptions event_options_from(double repeat_period);

void bind_events(nb::module_& module);

}  // namespace ringkernel::python
