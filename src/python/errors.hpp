/// The library's errors as Python exceptions. Which class stands for which code is in
/// pyringkernel/errors.py.
///
/// Threading: with the interpreter's lock held.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "python/nanobind.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::python {

/// Of whatever bytes a text has: those that are no UTF-8 become `\xff`.
[[nodiscard]] nb::object text_to(std::string_view text);

/// An exception of the class that stands for the error's code.
[[nodiscard]] nb::object to_exception(const Error& error);

/// Throws it; or what a signal handler has raised meanwhile, which is why the call has ended.
[[noreturn]] void raise(const Error& error);

/// The value; or throws.
template <class T>
T value_of(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Python's own.
[[noreturn]] void raise_type_error(const std::string& text);
[[noreturn]] void raise_value_error(const std::string& text);

/// What `call()` gives, as a slot of a type has to return it: null with an exception set.
template <class Call>
PyObject* guarded(Call&& call) noexcept {
  try {
    return call().release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

/// A keyword's value; TypeError where it is of another type.
template <class T>
T word_as(const std::string& word, nb::handle value) {
  T result;
  if (!nb::try_cast(value, result, false))
    raise_type_error("'" + word + "' cannot be " + nb::repr(value).c_str());
  return result;
}

/// The collector's look at what an object holds: `T::each(visit)` calls `visit` with each object,
/// and stops where that says so. Whoever holds objects that may lead back to it needs both.
template <class T>
int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<T>(nb::handle(self))->each([&](nb::object& object) {
    Py_VISIT(object.ptr());
    return 0;
  });
}
template <class T>
int clear(PyObject* self) noexcept {
  if (!nb::inst_ready(nb::handle(self))) return 0;
  return nb::inst_ptr<T>(nb::handle(self))->each([](nb::object& object) {
    object.reset();
    return 0;
  });
}

/// Pickling it raises, with what to do instead.
template <class Class>
void refuse_pickle(Class& cls, const char* why) {
  cls.def(
      "__reduce__", [why](nb::handle) -> nb::object { raise_type_error(why); },
      nb::sig("def __reduce__(self) -> str | tuple[Any, ...]"));
}

/// `{name: number}` of every code, for errors.py.
void bind_errors(nb::module_& module);

}  // namespace ringkernel::python
