#include "python/errors.hpp"

namespace ringkernel::python {

nb::object text_to(std::string_view text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

nb::object to_exception(const Error& error) {
  const nb::object make = nb::module_::import_("pyringkernel.errors").attr("make");
  const bool is_ours = error.code.category() == error_category();
  return make(is_ours ? error.code.value() : 0, text_to(error.text()), error.message,
              error.fault_code, error.fault_detail);
}

void raise(const Error& error) {
  if (PyErr_Occurred() == nullptr) {
    const nb::object exception = to_exception(error);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  }
  throw nb::python_error();
}

void raise_type_error(const std::string& text) {
  PyErr_SetString(PyExc_TypeError, text.c_str());
  throw nb::python_error();
}

void raise_value_error(const std::string& text) {
  PyErr_SetString(PyExc_ValueError, text.c_str());
  throw nb::python_error();
}

void bind_errors(nb::module_& module) {
  nb::dict codes;
#define RK_FAULT(code, name, sentence) codes[#name] = code;
#include "ringkernel/protocol/fault.def"
#undef RK_FAULT
#define RK_ERRC(value, name, sentence) codes[#name] = value;
#include "ringkernel/errc.def"
#undef RK_ERRC
  module.attr("codes") = codes;
}

}  // namespace ringkernel::python
