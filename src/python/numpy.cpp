#include "python/numpy.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#include <numpy/arrayobject.h>

#include <array>

namespace ringkernel::python {
namespace {

/// What the macros of numpy's headers call through.
void need_numpy() {
  if (PyArray_API == nullptr && _import_array() < 0) throw nb::python_error();
}

DType dtype_of(int type_number) noexcept {
  switch (type_number) {
    case NPY_FLOAT: return DType::f32;
    case NPY_INT: return DType::i32;
    case NPY_LONG: return sizeof(npy_long) == sizeof(std::int64_t) ? DType::i64 : DType::i32;
    case NPY_LONGLONG: return DType::i64;
    default: return DType::none;
  }
}

int type_number_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::i32: return NPY_INT32;
    case DType::i64: return NPY_INT64;
    default: return NPY_FLOAT32;
  }
}

/// Null: it is no array, or not one that is used as it lies. The element type is not looked at.
PyArrayObject* usable(nb::handle object, bool writable) {
  need_numpy();
  if (PyArray_Check(object.ptr()) == 0) return nullptr;
  auto* const array = reinterpret_cast<PyArrayObject*>(object.ptr());
  const int wanted =
      NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | (writable ? NPY_ARRAY_WRITEABLE : 0);
  return PyArray_CHKFLAGS(array, wanted) && !PyArray_ISBYTESWAPPED(array) ? array : nullptr;
}

}  // namespace

ArrayElements elements_of(nb::handle object, bool writable) {
  PyArrayObject* const array = usable(object, writable);
  if (array == nullptr) return {};
  const DType dtype = dtype_of(PyArray_TYPE(array));
  if (dtype == DType::none) return {};
  std::array<std::int64_t, rank_max + 1> extents;
  const auto rank = std::min(static_cast<std::size_t>(PyArray_NDIM(array)), extents.size());
  for (std::size_t dim = 0; dim < rank; ++dim)
    extents[dim] = PyArray_DIM(array, static_cast<int>(dim));
  const Result<Shape> shape = Shape::make(std::span(extents).first(rank));
  if (!shape) return {};
  return {{dtype, *shape}, PyArray_DATA(array)};
}

void* elements_like(nb::handle object, const TensorDesc& expected, bool writable) {
  PyArrayObject* const array = usable(object, writable);
  if (array == nullptr || dtype_of(PyArray_TYPE(array)) != expected.dtype) return nullptr;
  const std::span<const std::uint32_t> dims = expected.shape.dims();
  if (static_cast<std::size_t>(PyArray_NDIM(array)) != dims.size()) return nullptr;
  for (std::size_t dim = 0; dim < dims.size(); ++dim)
    if (PyArray_DIM(array, static_cast<int>(dim)) != static_cast<npy_intp>(dims[dim]))
      return nullptr;
  return PyArray_DATA(array);
}

nb::object new_array(const TensorDesc& desc, void** data) {
  need_numpy();
  std::array<npy_intp, rank_max> extents;
  for (std::size_t dim = 0; dim < desc.shape.rank(); ++dim) extents[dim] = desc.shape[dim];
  PyObject* const made = PyArray_SimpleNew(static_cast<int>(desc.shape.rank()), extents.data(),
                                           type_number_of(desc.dtype));
  if (made == nullptr) throw nb::python_error();
  if (data != nullptr) *data = PyArray_DATA(reinterpret_cast<PyArrayObject*>(made));
  return nb::steal(made);
}

}  // namespace ringkernel::python
