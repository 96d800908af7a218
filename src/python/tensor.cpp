#include "python/tensor.hpp"

#include "python/errors.hpp"
#include "python/operands.hpp"
#include "python/waiting.hpp"

namespace ringkernel::python {
namespace {

nb::handle tensor_type;  // the module's, for ever

Array read(const Tensor& tensor, nb::handle out, nb::handle timeout) {
  const std::chrono::nanoseconds patience = timeout_from(timeout);
  nb::object array = out.is_none() ? new_array(tensor.desc()) : nb::borrow(out);
  Buffer buffer;
  buffer.open(array, true, "out", 0);
  value_of(waiting([&] {
    return with_elements(buffer.desc(), static_cast<std::byte*>(buffer.data()),
                         [&](auto elements) { return tensor.read(elements, patience); });
  }));
  return as_array(std::move(array));
}

void write(Tensor& tensor, nb::handle elements, nb::handle timeout) {
  const std::chrono::nanoseconds patience = timeout_from(timeout);
  Buffer buffer;
  buffer.open(elements, false, "operand", 0);
  const TensorDesc expected = tensor.desc();
  if (expected.dtype != DType::none && buffer.desc().shape != expected.shape)
    raise(Error(Errc::dimension_mismatch,
                "Expected: " + expected.text() + ". Got: " + buffer.desc().text()));
  value_of(waiting([&] {
    return with_elements(buffer.desc(), static_cast<const std::byte*>(buffer.data()),
                         [&](auto given) { return tensor.write(given, patience); });
  }));
}

void assign(Tensor& tensor, nb::handle index, nb::handle elements) {
  if (index.ptr() != Py_Ellipsis)
    throw nb::index_error("a resident tensor is written as a whole: tensor[...] = x");
  write(tensor, elements, nb::none());
}

std::string describe_tensor(const Tensor& tensor) {
  const TensorDesc desc = tensor.desc();
  if (desc.dtype == DType::none) return "<Tensor, empty>";
  return "<Tensor " + std::to_string(tensor.id()) + ", " + numpy_name(desc.dtype) +
         desc.shape.text() + ", resident>";
}

}  // namespace

const Tensor* tensor_in(nb::handle object) noexcept {
  const nb::handle type = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()));  // has no subclass
  return type.is(tensor_type) && nb::inst_ready(object) ? nb::inst_ptr<Tensor>(object) : nullptr;
}

void bind_tensor(nb::module_& module) {
  auto type = nb::class_<Tensor>(
                  module, "Tensor", nb::is_weak_referenceable(), nb::is_final(),
                  "Elements that stay on the device. Made by `Runtime.tensor`; an operand and an "
                  "`out` of every op and function.")
                  .def_prop_ro("shape", [](const Tensor& t) { return shape_to(t.desc().shape); })
                  .def_prop_ro("dtype",
                               [](const Tensor& t) {
                                 return nb::module_::import_("numpy").attr("dtype")(
                                     numpy_name(t.desc().dtype));
                               })
                  .def_prop_ro("id", &Tensor::id, "Never used twice in a process.")
                  .def_prop_ro("nbytes", [](const Tensor& t) { return t.desc().bytes(); })
                  .def("read", &read, "out"_a = nb::none(), nb::kw_only(), "timeout"_a = nb::none(),
                       "A copy of the elements, in a new array or in `out`. Waits until no message "
                       "in flight "
                       "writes them.")
                  .def("write", &write, "elements"_a, nb::kw_only(), "timeout"_a = nb::none(),
                       "Copies all elements in. Waits until no message in flight uses the tensor.")
                  .def(
                      "deallocate", [](Tensor& t) { value_of(t.deallocate()); },
                      "Gives the memory back now; otherwise the last handle does.")
                  .def("__getitem__",
                       [](const Tensor& t, nb::handle index) {
                         return as_array(read(t, nb::none(), nb::none())[index]);
                       })
                  .def("__setitem__", &assign)
                  .def(
                      "__array__",
                      [](const Tensor& t, nb::handle dtype, nb::handle copy) {
                        if (copy.is(Py_False))
                          raise_value_error("a resident tensor is read as a copy");
                        Array array = read(t, nb::none(), nb::none());
                        return dtype.is_none() ? array : as_array(array.attr("astype")(dtype));
                      },
                      "dtype"_a = nb::none(), "copy"_a = nb::none())
                  .def("__dlpack__",
                       [](const Tensor& t, nb::kwargs options) {
                         return read(t, nb::none(), nb::none()).attr("__dlpack__")(**options);
                       })
                  .def("__dlpack_device__", [](const Tensor&) { return nb::make_tuple(1, 0); })
                  .def("__len__",
                       [](const Tensor& t) {
                         if (t.desc().shape.rank() == 0) raise_type_error("a scalar has no len()");
                         return t.desc().shape[0];
                       })
                  .def("__repr__", &describe_tensor);
  refuse_pickle(
      type,
      "a resident tensor cannot be pickled. Pickle tensor.read(), or send its kernel's name to "
      "who has the same runtime");
  tensor_type = type;
}

}  // namespace ringkernel::python
