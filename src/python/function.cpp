#include "python/function.hpp"

#include <boost/container/static_vector.hpp>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "foundation/scope_guard.hpp"
#include "python/completions.hpp"
#include "python/errors.hpp"
#include "python/places.hpp"
#include "python/prepared_calls.hpp"
#include "python/traced.hpp"
#include "python/waiting.hpp"

namespace ringkernel::python {
namespace {

/// The operands, a tuple, if all are arrays that are used as they lie; none otherwise.
boost::container::static_vector<TensorView, few_operands> views_of_arrays(PyObject* operands,
                                                                          Py_ssize_t count) {
  boost::container::static_vector<TensorView, few_operands> views;
  if (count > static_cast<Py_ssize_t>(few_operands)) return views;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const ArrayElements array = elements_of(nb::handle(PyTuple_GetItem(operands, i)), false);
    if (array.data == nullptr) return {};
    views.emplace_back(array.desc, array.data);
  }
  return views;
}

/// Calls `use` with the operands, a tuple, as views.
template <class Use>
auto with_views(PyObject* operands, Use&& use) {
  const Py_ssize_t count = PyTuple_Size(operands);
  const auto arrays = views_of_arrays(operands, count);
  if (!arrays.empty()) return use(std::span<const TensorView>(arrays));
  const auto with = [&](auto given) {
    for (Py_ssize_t i = 0; i < count; ++i) given->add(nb::handle(PyTuple_GetItem(operands, i)));
    return use(given->views());
  };
  if (count <= static_cast<Py_ssize_t>(few_operands)) {
    Operands<few_operands> given;
    return with(&given);
  }
  const auto given = std::make_unique<Operands<graph_inputs_max>>();
  return with(given.get());
}

ExecuteOptions options_of(const CallWords& words, const std::vector<Into>& into) {
  return {.timeout = timeout_from(words.timeout),
          .check_nan = words.check_nan,
          .priority = words.priority,
          .into = into};
}

/// What a result has, into its places; the rest is in resident tensors already.
nb::object filled(Places& places, const FunctionResult& result) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const TensorView view = result.output(i);
    if (view.data != nullptr && places.data(i) != nullptr)
      std::memcpy(places.data(i), view.data, view.desc.bytes());
  }
  return places.take();
}

std::string describe_function(const FunctionObject& object) {
  const FunctionSignature& signature = object.function().signature();
  const auto texts = [](const std::vector<TensorDesc>& descs) {
    std::string text;
    for (const TensorDesc& desc : descs)
      text += (text.empty() ? "" : ", ") + std::string(numpy_name(desc.dtype)) + desc.shape.text();
    return text;
  };
  return "<Function '" + signature.name + "', (" + texts(signature.inputs) + ") -> (" +
         texts(signature.outputs) + ")>";
}

}  // namespace

FunctionObject::FunctionObject(CompiledFunction function, nb::object owner)
    : owner_(std::move(owner)), function_(std::move(function)) {
  Result<PreparedCall> prepared = function_.prepare();
  if (prepared) prepared_.emplace(std::move(*prepared));
}

FunctionObject::~FunctionObject() {
  const Unlocked unlocked;
  prepared_.reset();
  function_ = CompiledFunction();
}

bool FunctionObject::fits(std::span<const TensorView> inputs) const {
  const std::vector<TensorDesc>& expected = function_.signature().inputs;
  return prepared_ && std::equal(inputs.begin(), inputs.end(), expected.begin(), expected.end(),
                                 [](const TensorView& given, const TensorDesc& desc) {
                                   return given.tensor == 0 && given.desc == desc;
                                 });
}

bool FunctionObject::take(PyObject* operands, Taken& taken) const {
  const std::vector<TensorDesc>& inputs = function_.signature().inputs;
  if (!prepared_ || PyTuple_Size(operands) != static_cast<Py_ssize_t>(inputs.size())) return false;
  taken.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Elements& operand = taken.emplace_back();
    operand.data =
        elements_like(PyTuple_GetItem(operands, static_cast<Py_ssize_t>(i)), inputs[i], false);
    if (operand.data == nullptr) return false;
    operand.count = inputs[i].element_count();
    operand.dtype = inputs[i].dtype;
  }
  return true;
}

nb::object FunctionObject::call_prepared(std::span<const TensorView> inputs, const CallWords& words,
                                         bool may_wait) {
  if (!fits(inputs)) return {};
  Taken taken;
  for (const TensorView& input : inputs) taken.emplace_back(input);
  return call_prepared(taken, words, may_wait);
}

nb::object FunctionObject::call_prepared(std::span<const Elements> operands, const CallWords& words,
                                         bool may_wait) {
  if (words.check_nan) return {};
  const SendOptions sending{.timeout = timeout_from(words.timeout), .priority = words.priority};
  {
    const nb::ft_lock_guard lock(mutex_);
    if (std::exchange(is_called_, true)) return {};
  }
  const ScopeGuard giving_back([&]() noexcept {
    const nb::ft_lock_guard lock(mutex_);
    is_called_ = false;
  });
  Places places(function_.signature(), words.out);
  if (!places.into().empty()) return {};
  boost::container::static_vector<ElementsOut, graph_outputs_max> results;
  for (std::size_t i = 0; i < places.size(); ++i)
    results.emplace_back(function_.signature().outputs[i], places.data(i));
  if (!run(*prepared_, results, operands, sending, may_wait, is_short_)) return {};
  return places.take();
}

nb::object FunctionObject::call(std::span<const TensorView> inputs, const CallWords& words,
                                bool was_tried) {
  nb::object made = was_tried ? nb::object() : call_prepared(inputs, words, true);
  if (made.is_valid()) return made;
  Places places(function_.signature(), words.out);
  const ExecuteOptions options = options_of(words, places.into());
  return filled(places, value_of(waiting([&] { return function_.execute(inputs, options); })));
}

nb::object FunctionObject::start(std::span<const TensorView> inputs, const CallWords& words,
                                 bool was_tried) {
  nb::object made = was_tried ? nb::object() : call_prepared(inputs, words, false);
  if (made.is_valid()) return made;
  std::vector<Into> into;
  // What is wrong with the places is found before anything runs; they are opened again at the end.
  if (!words.out.is_none()) into = Places(function_.signature(), words.out).into();
  const ExecuteOptions options = options_of(words, into);
  return Completions::of_running_loop().initiate<FunctionResult>(
      nb::make_tuple(nb::find(this), words.out),
      [&](auto token) { function_.async_execute(inputs, options, std::move(token)); },
      [](Pending& pending, FunctionResult result) {
        const nb::tuple kept = nb::cast<nb::tuple>(pending.out);
        const FunctionObject& called = *nb::inst_ptr<FunctionObject>(kept[0]);
        Places places(called.function_.signature(), kept[1]);
        return filled(places, result);
      });
}

Array FunctionObject::read_state(nb::handle state, nb::handle timeout) const {
  const std::size_t number = state_number(state);
  const std::chrono::nanoseconds patience = timeout_from(timeout);
  nb::object array = new_array(function_.signature().states[number]);
  Buffer buffer;
  buffer.open(array, true, "state", number);
  value_of(waiting([&] {
    return with_elements(buffer.desc(), static_cast<std::byte*>(buffer.data()), [&](auto elements) {
      return function_.read_state(number, elements, patience);
    });
  }));
  return as_array(std::move(array));
}

void FunctionObject::write_state(nb::handle state, nb::handle elements, nb::handle timeout) const {
  const std::size_t number = state_number(state);
  const std::chrono::nanoseconds patience = timeout_from(timeout);
  Buffer buffer;
  buffer.open(elements, false, "state", number);
  const TensorDesc& expected = function_.signature().states[number];
  if (buffer.desc().shape != expected.shape)
    raise(Error(Errc::dimension_mismatch,
                "Expected: " + expected.text() + ". Got: " + buffer.desc().text()));
  value_of(waiting([&] {
    return with_elements(
        buffer.desc(), static_cast<const std::byte*>(buffer.data()),
        [&](auto given) { return function_.write_state(number, given, patience); });
  }));
}

std::size_t FunctionObject::state_number(nb::handle state) const {
  const FunctionSignature& signature = function_.signature();
  if (PyIndex_Check(state.ptr()) != 0) {
    const auto number = static_cast<std::size_t>(int_from(state));
    if (number < signature.states.size()) return number;
  } else {
    const auto name = word_as<std::string>("state", state);
    const auto found = std::find(signature.state_names.begin(), signature.state_names.end(), name);
    if (found != signature.state_names.end())
      return static_cast<std::size_t>(found - signature.state_names.begin());
  }
  raise(Error(Errc::invalid_argument, "'" + signature.name + "' has " +
                                          std::to_string(signature.states.size()) +
                                          " states, and not " + nb::repr(state).c_str()));
}

namespace {

/// A call's own words; what is none of them is an operand by its name.
CallWords words_from(PyObject* keywords, std::vector<std::pair<std::string, nb::handle>>& named) {
  CallWords words;
  if (keywords == nullptr) return words;
  static PyObject* const out_word = [] {  // as a call has it
    PyObject* const word = PyUnicode_InternFromString("out");
    if (word == nullptr) throw nb::python_error();
    return word;
  }();
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t position = 0; PyDict_Next(keywords, &position, &key, &value) != 0;) {
    if (key == out_word) {
      words.out = value;
      continue;
    }
    const auto word = nb::cast<std::string_view>(nb::handle(key));
    if (word == "out")  // not interned
      words.out = value;
    else if (word == "timeout")
      words.timeout = value;
    else if (word == "check_nan")
      words.check_nan = word_as<bool>("check_nan", value);
    else if (word == "priority")
      words.priority = word_as<int>("priority", value);
    else
      named.emplace_back(word, value);
  }
  return words;
}

/// The operands in the function's order, those with names behind those without. Behind the first
/// `needed` there may be none.
nb::tuple in_order(const std::vector<std::string>& names, std::size_t needed, nb::handle operands,
                   const std::vector<std::pair<std::string, nb::handle>>& named) {
  std::vector<nb::object> ordered(names.size());
  const auto count = static_cast<std::size_t>(PyTuple_Size(operands.ptr()));
  for (const auto& [name, value] : named)
    if (std::find(names.begin(), names.end(), name) == names.end())
      raise_type_error("no input is called '" + name +
                       "', nor is that one of 'out', 'timeout', 'check_nan', 'priority'");
  if (count > names.size()) raise_type_error("too many operands");
  for (std::size_t i = 0; i < count; ++i) ordered[i] = nb::borrow(operands[i]);
  for (const auto& [name, value] : named) {
    const auto found = std::find(names.begin(), names.end(), name);
    nb::object& place = ordered[static_cast<std::size_t>(found - names.begin())];
    if (place.is_valid()) raise_type_error("input '" + name + "' is given twice");
    place = nb::borrow(value);
  }
  nb::list list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!ordered[i].is_valid()) {
      const bool is_last =
          std::none_of(ordered.begin() + static_cast<std::ptrdiff_t>(i), ordered.end(),
                       [](auto& given) { return given.is_valid(); });
      if (i >= needed && is_last) break;
      raise_type_error("input " + std::to_string(i) + " '" + names[i] + "' is missing");
    }
    list.append(std::move(ordered[i]));
  }
  return nb::tuple(list);
}

const std::vector<std::string>& input_names(const FunctionObject& function) {
  return function.function().signature().input_names;
}
const std::vector<std::string>& input_names(const Traced& traced) { return traced.names; }
std::size_t needed_inputs(const FunctionObject& function) { return input_names(function).size(); }
std::size_t needed_inputs(const Traced& traced) { return traced.needed; }

/// The function that takes these operands as arrays; null: none does, as far as it is known.
nb::object function_taking(nb::handle self, FunctionObject& function, PyObject* operands,
                           FunctionObject::Taken& taken) {
  return function.take(operands, taken) ? nb::borrow(self) : nb::object();
}
nb::object function_taking(nb::handle, Traced& traced, PyObject* operands,
                           FunctionObject::Taken& taken) {
  return traced.function_taking(operands, taken);
}

nb::object function_for(nb::handle self, FunctionObject&, std::span<const TensorView>) {
  return nb::borrow(self);
}
nb::object function_for(nb::handle, Traced& traced, std::span<const TensorView> views) {
  return traced.function_for(views);
}

// The slots themselves, for what nanobind's calls of any number of arguments would cost.

/// `self(*operands, **words)`: arrays go to the prepared call as they lie. For all else it is
/// `use(function, views, words, was_tried)`.
template <class Callable, class Use>
PyObject* called(PyObject* self, PyObject* operands, PyObject* keywords, bool may_wait,
                 Use&& use) noexcept {
  return guarded([&] {
    if (!nb::inst_ready(nb::handle(self))) raise_type_error("it was not made by its maker");
    std::vector<std::pair<std::string, nb::handle>> named;
    CallWords words = words_from(keywords, named);
    nb::object places;  // a list may change while the call is under way
    if (PyList_Check(words.out.ptr()) != 0) {
      places = nb::tuple(nb::borrow(words.out));
      words.out = places;
    }
    auto& callable = *nb::inst_ptr<Callable>(nb::handle(self));
    nb::tuple ordered;
    if (!named.empty())
      ordered = in_order(input_names(callable), needed_inputs(callable), operands, named);
    PyObject* const given = named.empty() ? operands : ordered.ptr();
    FunctionObject::Taken taken;
    // Held, as `function` below: a traced function may give it up meanwhile.
    const nb::object takes = function_taking(self, callable, given, taken);
    if (takes.is_valid()) {
      nb::object made = nb::inst_ptr<FunctionObject>(takes)->call_prepared(taken, words, may_wait);
      if (made.is_valid()) return made;
    }
    return with_views(given, [&](auto views) {
      const nb::object function = function_for(self, callable, views);
      return use(*nb::inst_ptr<FunctionObject>(function), views, words, takes.is_valid());
    });
  });
}

template <class Callable>
PyObject* call_slot(PyObject* self, PyObject* operands, PyObject* keywords) noexcept {
  return called<Callable>(self, operands, keywords, true,
                          [](FunctionObject& function, auto views, const CallWords& words,
                             bool was_tried) { return function.call(views, words, was_tried); });
}

/// `self._start(operands, words)`, a tuple and a dict: to unpack them into a call costs more.
template <class Callable>
PyObject* start_slot(PyObject* self, PyObject* const* given, Py_ssize_t count) noexcept {
  if (count != 2 || PyTuple_Check(given[0]) == 0 || PyDict_Check(given[1]) == 0) {
    PyErr_SetString(PyExc_TypeError, "_start takes a tuple and a dict");
    return nullptr;
  }
  return called<Callable>(self, given[0], given[1], false,
                          [](FunctionObject& function, auto views, const CallWords& words,
                             bool was_tried) { return function.start(views, words, was_tried); });
}

template <class Callable>
std::array<PyMethodDef, 2> methods{
    {{"_start", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&start_slot<Callable>)),
      METH_FASTCALL, "As a call, for an event loop."},
     {}}};

template <class Callable>
const std::array<PyType_Slot, 5> slots{
    {{Py_tp_call, reinterpret_cast<void*>(&call_slot<Callable>)},
     {Py_tp_methods, methods<Callable>.data()},
     {Py_tp_traverse, reinterpret_cast<void*>(&traverse<Callable>)},
     {Py_tp_clear, reinterpret_cast<void*>(&clear<Callable>)},
     {0, nullptr}}};

}  // namespace

void bind_function(nb::module_& module) {
  auto function =
      nb::class_<FunctionObject>(
          module, "Function", nb::is_weak_referenceable(),
          nb::type_slots(slots<FunctionObject>.data()),
          "A graph made ready on the device: one message runs all of it. Made "
          "by `Runtime.compile`.")
          .def_prop_ro("name",
                       [](const FunctionObject& f) { return f.function().signature().name; })
          .def_prop_ro(
              "inputs",
              [](const FunctionObject& f) { return descriptions(f.function().signature().inputs); },
              "(element type, shape) of each.")
          .def_prop_ro("outputs",
                       [](const FunctionObject& f) {
                         return descriptions(f.function().signature().outputs);
                       })
          .def_prop_ro("input_names", [](const FunctionObject& f) { return input_names(f); })
          .def_prop_ro(
              "output_names",
              [](const FunctionObject& f) { return f.function().signature().output_names; })
          .def_prop_ro(
              "states",
              [](const FunctionObject& f) { return descriptions(f.function().signature().states); })
          .def_prop_ro("state_names",
                       [](const FunctionObject& f) { return f.function().signature().state_names; })
          .def("read_state", &FunctionObject::read_state, "state"_a, nb::kw_only(),
               "timeout"_a = nb::none(),
               "A copy of a state, by its name or number, between two executions.")
          .def("write_state", &FunctionObject::write_state, "state"_a, "elements"_a, nb::kw_only(),
               "timeout"_a = nb::none(), "Likewise.")
          .def(
              "reset_states",
              [](const FunctionObject& f) {
                value_of(waiting([&] { return f.function().reset_states(); }));
              },
              "Makes zeros of all states, as they were at first.")
          .def_prop_ro("commands",
                       [](const FunctionObject& f) { return f.function().signature().commands; })
          .def_prop_ro("arena_bytes",
                       [](const FunctionObject& f) { return f.function().signature().arena_bytes; })
          .def(
              "instance",
              [](const FunctionObject& f) {
                return std::make_unique<FunctionObject>(
                    value_of(waiting([&] { return f.function().instance(); })), f.owner());
              },
              nb::keep_alive<0, 1>(),
              "Another one with states of its own, which shares commands and constants.")
          .def("__repr__", &describe_function);
  refuse_pickle(function,
                "a compiled function cannot be pickled. Pickle what it was made of: the graph's "
                "text, or the path of the model");

  bind_traced(module, slots<Traced>.data());
}

}  // namespace ringkernel::python
