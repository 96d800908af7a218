/// Functions in MLIR as graphs, for pyringkernel/mlir.py.
///
/// Threading: with the interpreter's lock held; it is given up while MLIR is at work.
#pragma once

#include "python/nanobind.hpp"

namespace ringkernel::python {

/// `read_mlir`, which adds all that is said to a list, also where it raises; and `find_mlir`.
void bind_mlir(nb::module_& module);

}  // namespace ringkernel::python
