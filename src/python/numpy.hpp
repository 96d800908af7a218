/// numpy's arrays by numpy's own C interface, which costs a fraction of the buffer protocol
/// (docs/decisions/0029). What is no array goes by that (operands.hpp).
///
/// Threading: with the interpreter's lock held.
/// Errors: thrown as Python exceptions; ImportError where numpy is older than 1.23.
#pragma once

#include "python/nanobind.hpp"
#include "ringkernel/tensor.hpp"

namespace ringkernel::python {

/// The elements of an array.
struct ArrayElements {
  TensorDesc desc;
  void* data = nullptr;  ///< null: there is no such array
};

/// Those of an array that can be used as it lies: C-contiguous, aligned, in this machine's byte
/// order, float32, int32 or int64, no dimension of 0; with `writable`, one that takes elements.
/// Valid while the array is referred to: numpy does not resize one that is.
[[nodiscard]] ArrayElements elements_of(nb::handle object, bool writable);

/// Those of such an array whose type and shape are `expected`'s; null: there is none. No descriptor
/// is made.
[[nodiscard]] void* elements_like(nb::handle object, const TensorDesc& expected, bool writable);

/// An uninitialised array. `data`: where its elements are.
[[nodiscard]] nb::object new_array(const TensorDesc& desc, void** data = nullptr);

}  // namespace ringkernel::python
