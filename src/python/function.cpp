#include "python/function.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <cstring>

#include "foundation/scope_guard.hpp"
#include "python/completions.hpp"
#include "python/errors.hpp"
#include "python/waiting.hpp"

namespace ringkernel::python {
namespace {

/// Calls `use` with the operands, a tuple, as views.
template <class Use>
auto with_views(PyObject* operands, Use&& use) {
  const Py_ssize_t count = PyTuple_Size(operands);
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

/// The objects that take the outputs, the caller's or new arrays, and their buffers.
class Places {
 public:
  /// `shapes`: of the outputs, as Python has them.
  Places(const FunctionSignature& signature, const std::vector<nb::object>& shapes,
         nb::handle out) {
    const std::vector<TensorDesc>& outputs = signature.outputs;
    if (out.is_none()) {
      for (std::size_t i = 0; i < outputs.size(); ++i)
        objects_.push_back(new_array(outputs[i].dtype, shapes[i]));
    } else if (outputs.size() == 1 && !nb::isinstance<nb::tuple>(out) &&
               !nb::isinstance<nb::list>(out)) {
      objects_.push_back(nb::borrow(out));
    } else {
      for (const nb::handle place : out) objects_.push_back(nb::borrow(place));
      if (objects_.size() != outputs.size())
        raise(Error(Errc::arity_mismatch, "out: Expected: " + std::to_string(outputs.size()) +
                                              " arrays. Got: " + std::to_string(objects_.size())));
    }
    for (std::size_t i = 0; i < objects_.size(); ++i)
      open_out(buffers_.emplace_back(), objects_[i], i, outputs[i]);
  }
  [[nodiscard]] std::size_t size() const noexcept { return objects_.size(); }
  [[nodiscard]] void* data(std::size_t output) const noexcept { return buffers_[output].data(); }
  /// The one object, or a tuple of several.
  [[nodiscard]] nb::object take() {
    buffers_.clear();
    if (objects_.size() == 1) return std::move(objects_[0]);
    nb::list list;
    for (nb::object& object : objects_) list.append(std::move(object));
    return nb::tuple(list);
  }

 private:
  boost::container::small_vector<nb::object, 2> objects_;
  boost::container::small_vector<Buffer, 2> buffers_;
};

ExecuteOptions options_of(const CallWords& words) {
  return {.timeout = timeout_from(words.timeout),
          .check_nan = words.check_nan,
          .priority = words.priority};
}

nb::object descriptions(const std::vector<TensorDesc>& descs) {
  nb::list list;
  for (const TensorDesc& desc : descs)
    list.append(nb::make_tuple(numpy_name(desc.dtype), shape_to(desc.shape)));
  return nb::tuple(list);
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

/// A function that is compiled when operands of a new kind come: of other element types or shapes.
class Traced {
 public:
  explicit Traced(nb::object compile) : compile_(std::move(compile)) {}

  FunctionObject& function_for(std::span<const TensorView> inputs) {
    for (const Kind& kind : kinds_)
      if (std::equal(kind.inputs.begin(), kind.inputs.end(), inputs.begin(), inputs.end(),
                     [](const TensorDesc& a, const TensorView& b) { return a == b.desc; }))
        return *nb::inst_ptr<FunctionObject>(kind.function);
    std::vector<TensorDesc> descs;
    for (const TensorView& input : inputs) descs.push_back(input.desc);
    nb::object function = compile_(descriptions(descs));
    kinds_.push_back({std::move(descs), std::move(function)});
    return *nb::inst_ptr<FunctionObject>(kinds_.back().function);
  }
  [[nodiscard]] nb::list functions() const {
    nb::list list;
    for (const Kind& kind : kinds_) list.append(kind.function);
    return list;
  }

 private:
  struct Kind {
    std::vector<TensorDesc> inputs;
    nb::object function;
  };

  nb::object compile_;
  std::vector<Kind> kinds_;
};

}  // namespace

FunctionObject::FunctionObject(CompiledFunction function) : function_(std::move(function)) {
  for (const TensorDesc& output : function_.signature().outputs)
    output_shapes_.push_back(shape_to(output.shape));
  Result<PreparedCall> prepared = function_.prepare();
  if (prepared) prepared_.emplace(std::move(*prepared));
}

bool FunctionObject::fits(std::span<const TensorView> inputs) const {
  const std::vector<TensorDesc>& expected = function_.signature().inputs;
  return prepared_ && std::equal(inputs.begin(), inputs.end(), expected.begin(), expected.end(),
                                 [](const TensorView& given, const TensorDesc& desc) {
                                   return given.tensor == 0 && given.desc == desc;
                                 });
}

nb::object FunctionObject::call_prepared(std::span<const TensorView> inputs, const CallWords& words,
                                         bool may_wait) {
  if (words.check_nan || !fits(inputs)) return {};
  const SendOptions sending{.timeout = timeout_from(words.timeout), .priority = words.priority};
  {
    const nb::ft_lock_guard lock(mutex_);
    if (std::exchange(is_called_, true)) return {};
  }
  const ScopeGuard giving_back([&]() noexcept {
    const nb::ft_lock_guard lock(mutex_);
    is_called_ = false;
  });
  boost::container::static_vector<Elements, graph_inputs_max> operands;
  for (const TensorView& input : inputs) operands.emplace_back(input);
  Places places(function_.signature(), output_shapes_, words.out);
  boost::container::static_vector<ElementsOut, graph_outputs_max> results;
  for (std::size_t i = 0; i < places.size(); ++i)
    results.emplace_back(function_.signature().outputs[i], places.data(i));
  if (may_wait)
    value_of(waiting([&] { return prepared_->call_into(results, operands, sending); }));
  else if (!value_of(at_once([&] { return prepared_->try_call_into(results, operands); })))
    return {};
  return places.take();
}

nb::object FunctionObject::call(std::span<const TensorView> inputs, const CallWords& words) {
  nb::object made = call_prepared(inputs, words, true);
  if (made.is_valid()) return made;
  const ExecuteOptions options = options_of(words);
  const FunctionResult result =
      value_of(waiting([&] { return function_.execute(inputs, options); }));
  return outputs_of(result, words.out);
}

nb::object FunctionObject::outputs_of(const FunctionResult& result, nb::handle out) const {
  Places places(function_.signature(), output_shapes_, out);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const TensorView view = result.output(i);
    std::memcpy(places.data(i), view.data, view.desc.bytes());
  }
  return places.take();
}

nb::object FunctionObject::start(std::span<const TensorView> inputs, const CallWords& words) {
  if (words.timeout.is_none()) {
    nb::object made = call_prepared(inputs, words, false);
    if (made.is_valid()) return made;
  }
  const ExecuteOptions options = options_of(words);
  return Completions::of_running_loop().initiate<FunctionResult>(
      nb::make_tuple(nb::find(this), words.out),
      [&](auto token) { function_.async_execute(inputs, options, std::move(token)); },
      [](Pending& pending, FunctionResult result) {
        const nb::tuple kept = nb::cast<nb::tuple>(pending.out);
        return nb::inst_ptr<FunctionObject>(kept[0])->outputs_of(result, kept[1]);
      });
}

namespace {

CallWords words_from(PyObject* keywords) {
  CallWords words;
  if (keywords == nullptr) return words;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t position = 0; PyDict_Next(keywords, &position, &key, &value) != 0;) {
    const auto word = nb::cast<std::string_view>(nb::handle(key));
    if (word == "out")
      words.out = value;
    else if (word == "timeout")
      words.timeout = value;
    else if (word == "check_nan")
      words.check_nan = nb::cast<bool>(nb::handle(value));
    else if (word == "priority")
      words.priority = nb::cast<int>(nb::handle(value));
    else
      raise_type_error("a call takes 'out', 'timeout', 'check_nan' and 'priority', not '" +
                       std::string(word) + "'");
  }
  return words;
}

FunctionObject& function_for(FunctionObject& function, std::span<const TensorView>) {
  return function;
}
FunctionObject& function_for(Traced& traced, std::span<const TensorView> views) {
  return traced.function_for(views);
}

// The slots themselves, for what nanobind's calls of any number of arguments would cost.

/// `self(*operands, **words)`.
template <class Callable>
PyObject* call_slot(PyObject* self, PyObject* operands, PyObject* keywords) noexcept {
  return guarded([&] {
    const CallWords words = words_from(keywords);
    auto& callable = *nb::inst_ptr<Callable>(nb::handle(self));
    return with_views(operands,
                      [&](auto views) { return function_for(callable, views).call(views, words); });
  });
}

/// `self._start(*operands, **words)`.
template <class Callable>
PyObject* start_slot(PyObject* self, PyObject* operands, PyObject* keywords) noexcept {
  return guarded([&] {
    const CallWords words = words_from(keywords);
    auto& callable = *nb::inst_ptr<Callable>(nb::handle(self));
    return with_views(
        operands, [&](auto views) { return function_for(callable, views).start(views, words); });
  });
}

template <class Callable>
std::array<PyMethodDef, 2> methods{
    {{"_start", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&start_slot<Callable>)),
      METH_VARARGS | METH_KEYWORDS, "As a call, for an event loop."},
     {}}};

template <class Callable>
const std::array<PyType_Slot, 3> slots{{{Py_tp_call, reinterpret_cast<void*>(&call_slot<Callable>)},
                                        {Py_tp_methods, methods<Callable>.data()},
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
          .def_prop_ro("commands",
                       [](const FunctionObject& f) { return f.function().signature().commands; })
          .def_prop_ro("arena_bytes",
                       [](const FunctionObject& f) { return f.function().signature().arena_bytes; })
          .def(
              "instance",
              [](const FunctionObject& f) {
                return std::make_unique<FunctionObject>(
                    value_of(waiting([&] { return f.function().instance(); })));
              },
              nb::keep_alive<0, 1>(),
              "Another one with states of its own, which shares commands and constants.")
          .def("__repr__", &describe_function);
  refuse_pickle(function,
                "a compiled function cannot be pickled. Pickle what it was made of: the graph's "
                "text, or the path of the model");

  nb::class_<Traced>(module, "Traced", nb::is_weak_referenceable(),
                     nb::type_slots(slots<Traced>.data()),
                     "A Python function as a `Function` for each kind of operands: "
                     "`Runtime.function`.")
      .def(nb::init<nb::object>(), "compile"_a)
      .def_prop_ro("functions", &Traced::functions, "Those that were compiled so far.");
}

}  // namespace ringkernel::python
