/// The runtime in Python: `Runtime`, what it knows of itself, and programs of one's own.
#pragma once

#include "python/nanobind.hpp"

namespace ringkernel::python {

void bind_runtime(nb::module_& module);

}  // namespace ringkernel::python
