#include "python/traced.hpp"

#include <algorithm>
#include <utility>

#include "foundation/scope_guard.hpp"
#include "python/errors.hpp"

namespace ringkernel::python {

Traced::Traced(nb::object compile, std::string given_name, std::vector<std::string> given_names,
               std::size_t needed_inputs, std::size_t kinds_max)
    : name(std::move(given_name)),
      names(std::move(given_names)),
      needed(needed_inputs),
      compile_(std::move(compile)),
      lock_(nb::module_::import_("threading").attr("RLock")()),
      kinds_max_(kinds_max) {
  if (kinds_max == 0) raise_value_error("a function needs room for at least one kind");
}

nb::object Traced::function_for(std::span<const TensorView> inputs) {
  nb::object known = find(inputs);
  if (known.is_valid()) return known;
  lock_.attr("acquire")();
  const ScopeGuard unlocking([&]() noexcept {
    PyObject* const released = PyObject_CallMethod(lock_.ptr(), "release", "");
    if (released == nullptr) PyErr_Clear();
    Py_XDECREF(released);
  });
  known = find(inputs);
  if (known.is_valid()) return known;
  std::vector<TensorDesc> descs;
  for (const TensorView& input : inputs) descs.push_back(input.desc);
  nb::object function = compile_(descriptions(descs));
  if (!nb::isinstance<FunctionObject>(function))
    raise_type_error("what compiles '" + name + "' gave no Function");
  make_room();
  const bool takes_them =
      nb::inst_ptr<FunctionObject>(function)->function().signature().inputs == descs;
  kinds_.push_back({std::move(descs), function, takes_them, ++uses_});
  return function;
}

nb::object Traced::function_taking(PyObject* operands, FunctionObject::Taken& taken) {
  for (Kind& kind : kinds_) {
    if (!kind.takes_them || !kind.function.is_valid() ||
        !nb::inst_ptr<FunctionObject>(kind.function)->take(operands, taken))
      continue;
    kind.used = ++uses_;
    return kind.function;
  }
  return {};
}

nb::object Traced::find(std::span<const TensorView> inputs) {
  for (Kind& kind : kinds_) {
    if (!kind.function.is_valid() ||
        !std::equal(kind.inputs.begin(), kind.inputs.end(), inputs.begin(), inputs.end(),
                    [](const TensorDesc& a, const TensorView& b) { return a == b.desc; }))
      continue;
    kind.used = ++uses_;
    return kind.function;
  }
  return {};
}

void Traced::make_room() {
  while (kinds_.size() >= kinds_max_) {
    const auto oldest = std::min_element(
        kinds_.begin(), kinds_.end(), [](const Kind& a, const Kind& b) { return a.used < b.used; });
    const nb::object given_up = std::move(oldest->function);  // its end may let other threads run
    kinds_.erase(oldest);
  }
}

nb::list Traced::functions() const {
  nb::list list;
  for (const Kind& kind : kinds_) list.append(kind.function);
  return list;
}

nb::object descriptions(const std::vector<TensorDesc>& descs) {
  nb::list list;
  for (const TensorDesc& desc : descs)
    list.append(nb::make_tuple(numpy_name(desc.dtype), shape_to(desc.shape)));
  return nb::tuple(list);
}

void bind_traced(nb::module_& module, const PyType_Slot* slots) {
  nb::class_<Traced>(module, "Traced", nb::is_weak_referenceable(), nb::type_slots(slots),
                     "A Python function as a `Function` for each kind of operands: "
                     "`Runtime.function`.")
      .def(nb::init<nb::object, std::string, std::vector<std::string>, std::size_t, std::size_t>(),
           "compile"_a, "name"_a = "function", "names"_a = std::vector<std::string>(),
           "needed"_a = 0, "kinds_max"_a = 64)
      .def_ro("name", &Traced::name)
      .def_ro("input_names", &Traced::names)
      .def("__repr__",
           [](const Traced& traced) {
             return "<Traced '" + traced.name + "', " +
                    std::to_string(nb::len(traced.functions())) + " kinds>";
           })
      .def_prop_ro("functions", &Traced::functions,
                   "Those that it keeps, each for one kind of operands.");
}

}  // namespace ringkernel::python
