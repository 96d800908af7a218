#include "python/mlir.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "python/errors.hpp"
#include "python/graph.hpp"
#include "python/waiting.hpp"
#include "ringkernel/mlir.hpp"

namespace ringkernel::python {
namespace {

/// Bytes that stay where they are while it lives.
class MlirText {
 public:
  explicit MlirText(nb::handle given) {
    if (PyUnicode_Check(given.ptr()) != 0) {
      Py_ssize_t length = 0;
      const char* const data = PyUnicode_AsUTF8AndSize(given.ptr(), &length);
      if (data == nullptr) throw nb::python_error();
      text_ = {data, static_cast<std::size_t>(length)};
      return;
    }
    if (PyObject_GetBuffer(given.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    text_ = {static_cast<const char*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
  }
  MlirText(const MlirText&) = delete;
  MlirText& operator=(const MlirText&) = delete;
  ~MlirText() {
    if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
  }

  [[nodiscard]] std::string_view text() const noexcept { return text_; }

 private:
  Py_buffer buffer_{};
  std::string_view text_;
};

/// Of an argument, or of a result.
std::size_t place_from(nb::handle value) {
  const Py_ssize_t place = PyNumber_AsSsize_t(value.ptr(), PyExc_OverflowError);
  if (place == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (place < 0)
    raise_value_error("state has places of arguments and results, from 0 on; not " +
                      std::to_string(place));
  return static_cast<std::size_t>(place);
}

const char* word_for(Severity severity) {
  switch (severity) {
    case Severity::warning: return "warning";
    case Severity::note: return "note";
    case Severity::remark: return "remark";
    case Severity::error: break;
  }
  return "error";
}

nb::object diagnostic_to(const nb::object& cls, const Diagnostic& told) {
  nb::list notes;
  for (const Diagnostic& note : told.notes) notes.append(diagnostic_to(cls, note));
  return cls(word_for(told.severity), text_to(told.message), text_to(told.at.file), told.at.line,
             told.at.column, text_to(told.at.node), nb::tuple(notes));
}

std::unique_ptr<GraphObject> read_mlir(nb::handle text, std::string name, std::string function,
                                       const nb::dict& state, std::string library, nb::list told) {
  mlir::Options options{
      .name = std::move(name), .function = std::move(function), .library = std::move(library)};
  for (const auto [argument, result] : state)
    options.state[place_from(argument)] = place_from(result);
  Diagnostics diagnostics;
  options.diagnostics = &diagnostics;
  const MlirText given(text);
  auto graph = waiting([&] { return mlir::read(given.text(), options); });
  const nb::object cls = nb::module_::import_("pyringkernel.diagnostics").attr("Diagnostic");
  for (const Diagnostic& one : diagnostics) told.append(diagnostic_to(cls, one));
  return std::make_unique<GraphObject>(value_of(std::move(graph)));
}

nb::tuple find_mlir(const std::string& path) {
  const auto found = value_of(waiting([&] { return mlir::find_library(path); }));
  return nb::make_tuple(found.path, found.major, found.minor, found.patch);
}

}  // namespace

void bind_mlir(nb::module_& module) {
  module.def("read_mlir", &read_mlir, "text"_a, "name"_a, "function"_a, "state"_a, "library"_a,
             "told"_a);
  module.def("find_mlir", &find_mlir, "path"_a,
             nb::sig("def find_mlir(path: str) -> tuple[str, int, int, int]"));
}

}  // namespace ringkernel::python
