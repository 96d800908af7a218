// What nanobind says of a call that fits no signature is a page, and does not name the keyword that
// is wrong. It has no hook for that, and another overload of each method would show in the help and
// in the stubs. So the linker takes this in place of the function by which it says so (`--wrap`):
// `explain_call` of errors.py says it in fewer words, or as it was.
#include <cstring>

#include "python/nanobind.hpp"

namespace ringkernel::python {
namespace {

/// Empty: as it was.
std::string explained(const char* text) noexcept {
  try {
    const nb::module_ errors = nb::module_::import_("pyringkernel.errors");
    return nb::cast<std::string>(errors.attr("explain_call")(text));
  } catch (...) {
    return {};
  }
}

}  // namespace
}  // namespace ringkernel::python

// NOLINTBEGIN: the linker's names
extern "C" void __real_PyErr_SetString(PyObject* type, const char* text);
extern "C" void __wrap_PyErr_SetString(PyObject* type, const char* text) {
  std::string ours;
  if (type == PyExc_TypeError && std::strstr(text, "incompatible function arguments") != nullptr)
    ours = ringkernel::python::explained(text);
  __real_PyErr_SetString(type, ours.empty() ? text : ours.c_str());
}
// NOLINTEND
