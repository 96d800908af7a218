/// Resident tensors in Python: `Tensor`.
///
/// Threading: with the interpreter's lock held; copies are made without it.
#pragma once

#include "python/nanobind.hpp"
#include "ringkernel/tensor_handle.hpp"

namespace ringkernel::python {

/// The tensor, or null for any other object.
[[nodiscard]] const Tensor* tensor_in(nb::handle object) noexcept;

void bind_tensor(nb::module_& module);

}  // namespace ringkernel::python
