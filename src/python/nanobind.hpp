/// nanobind, and what its users here share: one place for the headers, and the names.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace ringkernel::python {

namespace nb = nanobind;
using nb::literals::operator""_a;

/// A numpy array; what the stubs say of results.
class Array : public nb::object {
 public:
  static bool check(nb::handle) { return true; }
  NB_OBJECT_DEFAULT(Array, nb::object, "numpy.ndarray", check)
};
[[nodiscard]] inline Array as_array(nb::object object) {
  return nb::steal<Array>(object.release());
}

}  // namespace ringkernel::python
