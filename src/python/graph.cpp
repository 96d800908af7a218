#include "python/graph.hpp"

#include "python/errors.hpp"
#include "ringkernel/onnx.hpp"

namespace ringkernel::python {
namespace {

using GraphPointer = std::unique_ptr<GraphObject>;

GraphPointer object_of(Result<Graph> graph) {
  return std::make_unique<GraphObject>(value_of(std::move(graph)));
}

onnx::Options onnx_options(std::string name, const nb::dict& inputs, const nb::dict& state,
                           std::vector<std::string> outputs) {
  onnx::Options options;
  options.name = std::move(name);
  options.outputs = std::move(outputs);
  for (const auto [input, extents] : inputs) {
    const IntList list = ints_from(extents);
    options.inputs[nb::cast<std::string>(input)] = {list.values().begin(), list.values().end()};
  }
  for (const auto [input, output] : state)
    options.state[nb::cast<std::string>(input)] = nb::cast<std::string>(output);
  return options;
}

GraphPointer read_onnx(nb::handle file, std::string name, const nb::dict& inputs,
                       const nb::dict& state, std::vector<std::string> outputs) {
  const onnx::Options options = onnx_options(std::move(name), inputs, state, std::move(outputs));
  if (PyObject_CheckBuffer(file.ptr()) != 0)
    return object_of(onnx::read(bytes_from(file), options));
  const auto path = nb::cast<std::string>(nb::module_::import_("os").attr("fsdecode")(file));
  return object_of(onnx::read_file(path, options));
}

GraphObject& graph_of(nb::handle value) {
  return *nb::inst_ptr<GraphObject>(nb::inst_ptr<ValueObject>(value)->graph);
}

/// `left op right` where `value` is one of both.
template <Op op>
void binary(nb::class_<ValueObject>& cls, const char* name, const char* reflected) {
  cls.def(
      name,
      [](nb::handle self, nb::handle other) {
        Request request = request_of(op);
        return graph_of(self).run(request, {self, other});
      },
      "other"_a.none());
  cls.def(
      reflected,
      [](nb::handle self, nb::handle other) {
        Request request = request_of(op);
        return graph_of(self).run(request, {other, self});
      },
      "other"_a.none());
}

/// What Python writes with an operator, as int32.
template <Comparison comparison, bool is_swapped>
void comparing(nb::class_<ValueObject>& cls, const char* name, const char* signature) {
  cls.def(
      name,
      [](nb::handle self, nb::handle other) {
        Request request = request_of(Op::compare);
        request.attributes.comparison = comparison;
        return is_swapped ? graph_of(self).run(request, {other, self})
                          : graph_of(self).run(request, {self, other});
      },
      "other"_a, nb::sig(signature));
}

std::string describe_graph(GraphObject& graph) {
  return "<Graph '" + graph.graph().name() + "', " + std::to_string(graph.graph().op_count()) +
         " ops>";
}

/// What numpy's arrays have and is made of ops: the functions in pyringkernel/ops.py.
nb::object of_ops(const char* function, nb::handle self, nb::handle argument) {
  return nb::module_::import_("pyringkernel.ops").attr(function)(self, argument);
}

void as_arrays(nb::class_<ValueObject>& cls) {
  cls.def(
         "__getitem__", [](nb::handle self, nb::handle key) { return of_ops("_item", self, key); },
         "key"_a.none(), nb::sig("def __getitem__(self, key: Any, /) -> Value"))
      .def(
          "__pow__",
          [](nb::handle self, nb::handle exponent) { return of_ops("_power", self, exponent); },
          nb::sig("def __pow__(self, exponent: float, /) -> Value"))
      .def_prop_ro(
          "T", [](nb::handle self) { return of_ops("transpose", self, nb::tuple()); },
          nb::sig("def T(self) -> Value"))
      .def(
          "__array_ufunc__",
          [](nb::handle, nb::handle function, const nb::str& method, const nb::args& operands,
             const nb::kwargs& words) {
            return nb::module_::import_("pyringkernel.ops")
                .attr("_of_numpy")(function, method, operands, words);
          },
          nb::sig("def __array_ufunc__(self, function: Any, method: str, /, *operands: Any, "
                  "**words: Any) -> Value"))
      .def_prop_ro(
          "is_truth", [](const ValueObject& v) { return v.is_truth; },
          "Whether it is of a comparison, and no index.")
      .def_prop_ro("ndim", [](const ValueObject& v) { return v.value.desc().shape.rank(); })
      .def("__len__", [](const ValueObject& v) {
        if (v.value.desc().shape.rank() == 0) raise_type_error("a scalar has no len()");
        return v.value.desc().shape[0];
      });
}

nb::object refuse_truth(nb::handle) {
  raise_type_error(
      "a value of a graph has no elements while the graph is made: branch with "
      "select(), or outside of the function");
}

}  // namespace

void GraphObject::check() const {
  if (!graph_.status()) raise(graph_.status().error());
}

ValueObject GraphObject::checked(const Graph::Value& value) {
  check();
  return {nb::find(this), value};
}

ValueObject GraphObject::run(Request& request, OperandList operands) {
  Operands<few_operands> given;
  std::array<nb::object, few_operands> numbers;  // of numpy that are Python's as well
  std::size_t number_count = 0;
  for (const nb::handle operand : operands) {
    if (nb::isinstance<ValueObject>(operand))
      given.add(TensorView(nb::inst_ptr<ValueObject>(operand)->value));
    else if (PyFloat_Check(operand.ptr()) != 0 && number_count < numbers.size())
      given.add(numbers[number_count++] = nb::float_(PyFloat_AsDouble(operand.ptr())));
    else
      given.add(operand);
  }
  const std::span<const TensorView> views = given.views(request.op);
  request.input_count = static_cast<std::uint32_t>(views.size());
  std::copy(views.begin(), views.end(), request.inputs.begin());
  ValueObject result = checked(graph_.add(request));
  result.is_truth = request.op == Op::compare;
  return result;
}

void bind_graph(nb::module_& module) {
  auto value =
      nb::class_<ValueObject>(module, "Value",
                              "What an input, a constant or an op of a graph "
                              "stands for.")
          .def_prop_ro(
              "graph", [](const ValueObject& v) { return v.graph; },
              nb::sig("def graph(self) -> Graph"))
          .def_prop_ro("shape", [](const ValueObject& v) { return shape_to(v.value.desc().shape); })
          .def_prop_ro("dtype",
                       [](const ValueObject& v) {
                         return nb::module_::import_("numpy").attr("dtype")(
                             numpy_name(v.value.desc().dtype));
                       })
          .def("__neg__",
               [](nb::handle self) {
                 Request request = request_of(Op::neg);
                 return graph_of(self).run(request, {self});
               })
          .def("__bool__", &refuse_truth)
          .def("__repr__", [](const ValueObject& v) {
            return "<Value " + std::string(numpy_name(v.value.desc().dtype)) +
                   v.value.desc().shape.text() + ">";
          });
  as_arrays(value);
  binary<Op::add>(value, "__add__", "__radd__");
  binary<Op::sub>(value, "__sub__", "__rsub__");
  binary<Op::mul>(value, "__mul__", "__rmul__");
  binary<Op::div>(value, "__truediv__", "__rtruediv__");
  binary<Op::matmul>(value, "__matmul__", "__rmatmul__");
  comparing<Comparison::equal, false>(value, "__eq__", "def __eq__(self, other: object, /) -> Any");
  comparing<Comparison::not_equal, false>(value, "__ne__",
                                          "def __ne__(self, other: object, /) -> Any");
  comparing<Comparison::less, false>(value, "__lt__", "def __lt__(self, other: object, /) -> Any");
  comparing<Comparison::less_equal, false>(value, "__le__",
                                           "def __le__(self, other: object, /) -> Any");
  comparing<Comparison::less, true>(value, "__gt__", "def __gt__(self, other: object, /) -> Any");
  comparing<Comparison::less_equal, true>(value, "__ge__",
                                          "def __ge__(self, other: object, /) -> Any");

  auto graph = nb::class_<GraphObject>(
      module, "Graph",
      "A network of ops, written down once and run by one message: `Runtime.compile`.");
  graph
      .def_static(
          "parse",
          [](std::string name, std::string_view text) {
            return object_of(Graph::parse(std::move(name), text));
          },
          "name"_a, "text"_a, "Of a module in the text of the Core IR grammar.")
      .def(
          "__init__",
          [](GraphObject* self, std::string name) {
            new (self) GraphObject(Graph(std::move(name)));
          },
          "name"_a = "graph")
      .def_prop_ro("name", [](GraphObject& g) { return g.graph().name(); })
      .def_prop_ro("op_count", [](GraphObject& g) { return g.graph().op_count(); })
      .def(
          "input",
          [](GraphObject& g, nb::handle shape, nb::handle dtype, std::string_view name) {
            return g.checked(g.graph().input({dtype_from(dtype), shape_from(shape)}, name));
          },
          "shape"_a, "dtype"_a = nb::none(), "name"_a = "",
          "What each call brings, in the order of these.")
      .def(
          "state",
          [](GraphObject& g, nb::handle shape, nb::handle dtype, std::string_view name) {
            return g.checked(g.graph().state({dtype_from(dtype), shape_from(shape)}, name));
          },
          "shape"_a, "dtype"_a = nb::none(), "name"_a = "",
          "What the function keeps from one call to the next: zeros at first.")
      .def(
          "update",
          [](GraphObject& g, const ValueObject& state, const ValueObject& next) {
            g.graph().update(state.value, next.value);
            g.check();
          },
          "state"_a, "next"_a, "The state's elements for the next call.")
      .def(
          "constant",
          [](GraphObject& g, nb::handle elements) {
            Operands<few_operands> given;
            given.add(elements);
            if (given.views()[0].tensor != 0)
              raise(Error(Errc::unsupported,
                          "a resident tensor is no constant of a graph: give "
                          "it as an input, or tensor.read()"));
            return g.checked(g.graph().constant(given.views()[0]));
          },
          "elements"_a, "Elements that stay on the device; the graph copies them.")
      .def(
          "output",
          [](GraphObject& g, const ValueObject& output, std::string_view name) {
            g.graph().output(output.value, name);
            g.check();
          },
          "value"_a, "name"_a = "", "What each call answers, in the order of these.")
      .def("__repr__", &describe_graph);
  OpMethods<GraphObject>::bind(graph);

  module.def("read_onnx", &read_onnx, "file"_a, "name"_a, "inputs"_a, "state"_a, "outputs"_a);
}

}  // namespace ringkernel::python
