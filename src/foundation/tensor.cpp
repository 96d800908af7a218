#include "ringkernel/tensor.hpp"

#include <limits>

namespace ringkernel {

const char* name(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32: return "f32";
    case DType::i32: return "i32";
    case DType::i64: return "i64";
    case DType::none: break;
  }
  return "none";
}

namespace {

std::string list_text(auto dims) {
  std::string text = "[";
  for (const auto dim : dims) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(dim);
  }
  return text + "]";
}

/// Whether there is such a shape.
Result<void> check_extents(std::span<const std::int64_t> dims) {
  if (dims.size() > rank_max)
    return Error(Errc::rank_mismatch, "rank " + std::to_string(dims.size()) +
                                          " exceeds the limit of " + std::to_string(rank_max));
  constexpr std::uint64_t count_max = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] <= 0)
      return Error(Errc::invalid_dimension, "shape " + list_text(dims) + " has extent " +
                                                std::to_string(dims[i]) + " at dim " +
                                                std::to_string(i));
    if (static_cast<std::uint64_t>(dims[i]) > count_max / count)
      return Error(Errc::allocation_failure, "shape " + list_text(dims) + " has more than " +
                                                 std::to_string(count_max) + " elements");
    count *= static_cast<std::uint64_t>(dims[i]);
  }
  return {};
}

}  // namespace

Result<Shape> Shape::make(std::span<const std::int64_t> dims) {
  RK_TRY_VOID(check_extents(dims));
  // In place: a copy by vectors right behind the stores of single extents would wait for them.
  Result<Shape> made(Shape{});
  Shape& shape = *made;
  for (const std::int64_t dim : dims) shape.dims_[shape.rank_++] = static_cast<std::uint32_t>(dim);
  return made;
}

std::string Shape::text() const { return list_text(dims()); }

std::string TensorDesc::text() const { return name(dtype) + shape.text(); }

}  // namespace ringkernel
