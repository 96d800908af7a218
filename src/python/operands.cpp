#include "python/operands.hpp"

#include <cmath>
#include <cstring>

#include "python/errors.hpp"
#include "python/tensor.hpp"

namespace ringkernel::python {
namespace {

[[noreturn]] void refuse(Errc code, const char* what, std::size_t number, const std::string& why) {
  raise(Error(code, std::string(what) + " " + std::to_string(number) + " " + why));
}

/// none: no element type of ours.
DType dtype_of_format(const char* format, Py_ssize_t item_bytes) noexcept {
  if (format == nullptr) return DType::none;  // bytes
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (format[0] == '\0' || format[1] != '\0') return DType::none;
  switch (*format) {
    case 'f': return DType::f32;
    case 'i':
    case 'l':
    case 'q': return item_bytes == 8 ? DType::i64 : DType::i32;
    default: return DType::none;
  }
}

std::string type_of(nb::handle object) { return nb::type_name(object.type()).c_str(); }

/// What to write instead.
std::string cure_of(const char* format) {
  const char kind = format == nullptr || *format == '\0' ? 'B' : format[std::strlen(format) - 1];
  if (std::strchr("bBhHiIlLqQ?", kind) != nullptr) return "x.astype(numpy.int32) or numpy.int64";
  return "x.astype(numpy.float32)";
}

}  // namespace

// --- buffers ----------------------------------------------------------------------------------

void Buffer::open(nb::handle object, bool writable, const char* what, std::size_t number) {
  close();
  elements_ = elements_of(object, writable);
  if (elements_.data != nullptr)
    array_ = nb::borrow(object);
  else
    open_buffer(object, writable, what, number);
}

void Buffer::open_buffer(nb::handle object, bool writable, const char* what, std::size_t number) {
  nb::handle source = object;
  if (PyObject_CheckBuffer(object.ptr()) == 0) {
    if (writable)
      refuse(Errc::invalid_dtype, what, number,
             "is a " + type_of(object) + ", which takes no elements: an array does");
    if (type_of(object).ends_with(".Value"))
      refuse(Errc::invalid_argument, what, number,
             "is a value of a graph. In a function that is traced, write rk.ops.relu(x) and so on");
    if (!nb::hasattr(object, "__dlpack__"))
      refuse(Errc::invalid_dtype, what, number,
             "is a " + type_of(object) +
                 ", which is no array. Write numpy.asarray(x, dtype=numpy.float32)");
    array_ = nb::module_::import_("numpy").attr("from_dlpack")(object);
    source = array_;
  }
  const int flags = PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  bool is_contiguous = true;
  if (PyObject_GetBuffer(source.ptr(), &buffer_, flags | PyBUF_C_CONTIGUOUS) != 0) {
    PyErr_Clear();
    if (writable && PyObject_GetBuffer(source.ptr(), &buffer_, PyBUF_STRIDES) == 0) {
      const bool is_read_only = buffer_.readonly != 0;
      PyBuffer_Release(&buffer_);
      if (is_read_only)
        refuse(Errc::invalid_argument, what, number, "is read-only: it takes no elements");
    }
    PyErr_Clear();
    is_contiguous = false;
    if (PyObject_GetBuffer(source.ptr(), &buffer_, flags | PyBUF_STRIDES) != 0)
      throw nb::python_error();
  }
  open_ = true;
  const DType dtype = dtype_of_format(buffer_.format, buffer_.itemsize);
  if (dtype == DType::none)
    refuse(
        Errc::invalid_dtype, what, number,
        "has elements of the format '" +
            std::string(buffer_.format == nullptr ? "B" : buffer_.format) +
            "'. Expected: float32, int32 or int64. " +
            (writable ? "Make it with dtype=numpy.float32" : "Write " + cure_of(buffer_.format)));
  if (!is_contiguous)
    refuse(Errc::invalid_argument, what, number,
           writable ? "is not C-contiguous, so that no result can be put into it"
                    : "is not C-contiguous. Write numpy.ascontiguousarray(x)");
  std::array<std::int64_t, rank_max + 1> extents;
  const auto rank = std::min<std::size_t>(static_cast<std::size_t>(buffer_.ndim), rank_max + 1);
  for (std::size_t dim = 0; dim < rank; ++dim) extents[dim] = buffer_.shape[dim];
  Result<Shape> shape = Shape::make(std::span(extents).first(rank));
  if (!shape) raise(shape.error());
  elements_ = {{dtype, *shape}, buffer_.buf};
}

void Buffer::close() noexcept {
  if (open_) PyBuffer_Release(&buffer_);
  open_ = false;
  elements_.data = nullptr;
}

Place place_for(nb::handle out, const TensorDesc& expected, std::size_t number) {
  Place place;
  if (out.is_none()) {
    place.object = new_array(expected, &place.data);
    return place;
  }
  place.object = nb::borrow(out);
  place.data = elements_like(out, expected, true);
  if (place.data != nullptr) return place;
  place.buffer = std::make_unique<Buffer>();
  place.buffer->open(out, true, "out", number);
  const TensorDesc& got = place.buffer->desc();
  if (got != expected)
    raise(Error(got.dtype != expected.dtype ? Errc::dtype_mismatch : Errc::dimension_mismatch,
                "out " + std::to_string(number) + ": Expected: " + expected.text() +
                    ". Got: " + got.text()));
  place.data = place.buffer->data();
  return place;
}

// --- operands ---------------------------------------------------------------------------------

template <std::size_t capacity>
bool Operands<capacity>::add_number(nb::handle object) {
  PyObject* const python = object.ptr();
  if (!PyFloat_CheckExact(python) && !PyLong_Check(python)) return false;
  numbers_ |= 1u << count_;
  number_objects_[count_] = object;
  return true;
}

template <std::size_t capacity>
void Operands<capacity>::add_tensor(nb::handle object) {
  if (const Tensor* const tensor = tensor_in(object)) {
    views_[count_] = *tensor;
    return;
  }
  Buffer& buffer = buffers_[count_];
  buffer.open(object, false, "operand", count_);
  views_[count_] = TensorView(buffer.desc(), buffer.data());
}

template <std::size_t capacity>
void Operands<capacity>::resolve_numbers(Op op) {
  const auto is_condition = [op](std::size_t i) { return op == Op::select && i == 0; };
  DType common = DType::f32;
  for (std::size_t i = count_; i-- != 0;)
    if ((numbers_ >> i & 1u) == 0 && !is_condition(i)) common = views_[i].desc.dtype;
  for (std::size_t i = 0; i < count_; ++i)
    if ((numbers_ >> i & 1u) != 0)
      resolve(i, is_condition(i) || (op == Op::gather && i == 1) ? DType::i32 : common);
}

template <std::size_t capacity>
void Operands<capacity>::resolve(std::size_t operand, DType dtype) {
  PyObject* const number = number_objects_[operand].ptr();
  Number& value = values_[operand];
  if (dtype == DType::f32) {
    const double given = PyFloat_AsDouble(number);
    if (given == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    value.f32 = static_cast<float>(given);
  } else {
    if (PyFloat_Check(number))
      refuse(Errc::dtype_mismatch, "operand", operand,
             "is a float beside integers. Write int(x), or the others as numpy.float32");
    const long long given = PyLong_AsLongLong(number);
    if (given == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    if (dtype == DType::i64)
      value.i64 = given;
    else if (given == static_cast<std::int32_t>(given))
      value.i32 = static_cast<std::int32_t>(given);
    else
      refuse(Errc::dtype_mismatch, "operand", operand, "is too large for int32");
  }
  views_[operand] = TensorView(TensorDesc{dtype, {}}, &value);
}

template class Operands<few_operands>;
template class Operands<graph_inputs_max>;

// --- arrays -----------------------------------------------------------------------------------

const char* numpy_name(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32: return "float32";
    case DType::i32: return "int32";
    case DType::i64: return "int64";
    case DType::none: break;
  }
  return "none";
}

nb::object array_of(const TensorView& view) {
  void* data = nullptr;
  nb::object array = new_array(view.desc, &data);
  std::memcpy(data, view.data, view.desc.bytes());
  return array;
}

DType dtype_from(nb::handle object) {
  if (object.is_none()) return DType::f32;
  const auto name =
      nb::cast<std::string>(nb::module_::import_("numpy").attr("dtype")(object).attr("name"));
  for (const DType dtype : {DType::f32, DType::i32, DType::i64})
    if (name == numpy_name(dtype)) return dtype;
  raise(Error(Errc::invalid_dtype, "Expected: float32, int32 or int64. Got: " + name));
}

// --- small values -----------------------------------------------------------------------------

IntList ints_from(nb::handle object) {
  if (PyIndex_Check(object.ptr()) != 0) return {int_from(object)};
  IntList list;
  for (const nb::handle item : object) list.push_back(int_from(item));
  return list;
}

std::int64_t int_from(nb::handle object) {
  const nb::object index = nb::steal(PyNumber_Index(object.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  const long long value = PyLong_AsLongLong(index.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

Shape shape_from(nb::handle object) {
  const IntList extents = ints_from(object);
  if (!extents.fits())
    raise(Error(Errc::rank_mismatch, "at most 8 dims. Got: " + std::to_string(extents.count())));
  return value_of(Shape::make(extents.values()));
}

nb::tuple shape_to(const Shape& shape) {
  PyObject* const tuple = PyTuple_New(static_cast<Py_ssize_t>(shape.rank()));
  if (tuple == nullptr) throw nb::python_error();
  for (std::size_t dim = 0; dim < shape.rank(); ++dim)
    PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(dim), PyLong_FromUnsignedLong(shape[dim]));
  return nb::steal<nb::tuple>(tuple);
}

std::chrono::nanoseconds timeout_from(nb::handle seconds) {
  if (seconds.is_none()) return {};
  const double value = PyFloat_AsDouble(seconds.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (!(value > 0)) raise_value_error("a timeout is a number of seconds above zero, or None");
  constexpr double longest = 1e9;  // seconds; 31 years
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(value, longest) * 1e9) + 1);
}

std::vector<std::byte> bytes_from(nb::handle object) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_SIMPLE) != 0) throw nb::python_error();
  const auto* const data = static_cast<const std::byte*>(buffer.buf);
  std::vector<std::byte> bytes(data, data + buffer.len);
  PyBuffer_Release(&buffer);
  return bytes;
}

nb::bytes bytes_to(std::span<const std::byte> bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

}  // namespace ringkernel::python
