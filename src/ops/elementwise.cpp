#include <algorithm>

#include "ops/rules.hpp"

namespace ringkernel::ops {

Result<Shape> broadcast(const OpCall& call, std::span<const std::uint32_t> a,
                        std::span<const std::uint32_t> b) {
  const std::size_t rank = std::max(a.size(), b.size());
  const auto aligned = [rank](std::span<const std::uint32_t> dims, std::size_t dim) {
    const std::size_t padding = rank - dims.size();
    return dim < padding ? 1u : dims[dim - padding];
  };
  std::array<std::int64_t, rank_max> dims{};
  for (std::size_t dim = 0; dim < rank; ++dim) {
    const std::uint32_t a_extent = aligned(a, dim);
    const std::uint32_t b_extent = aligned(b, dim);
    if (a_extent != b_extent && a_extent != 1 && b_extent != 1)
      return call_error(Errc::broadcast_failure, call,
                        "extents " + std::to_string(a_extent) + " and " + std::to_string(b_extent) +
                            " at aligned dim " + std::to_string(dim));
    dims[dim] = std::max(a_extent, b_extent);
  }
  auto shape = Shape::make(std::span(dims).first(rank));
  if (!shape) return call_error(Errc::allocation_failure, call, shape.error().detail);
  return shape;
}

/// Output like the input.
Result<Inference> infer_unary(const OpCall& call) { return Inference{call.inputs[0], {}}; }

/// Output is the broadcast of both inputs. E3001, E6004.
Result<Inference> infer_binary(const OpCall& call) {
  RK_TRY(shape, broadcast(call, call.inputs[0].shape.dims(), call.inputs[1].shape.dims()));
  return Inference{{call.inputs[0].dtype, shape}, {}};
}

/// Output i32, the broadcast of both inputs. E3001, E6004; invalid_argument: no such comparison.
Result<Inference> infer_compare(const OpCall& call) {
  const Comparison comparison = call.attributes.comparison;
  if (comparison > Comparison::less_equal)
    return call_error(
        Errc::invalid_argument, call,
        "no comparison has the number " + std::to_string(static_cast<unsigned>(comparison)));
  RK_TRY(shape, broadcast(call, call.inputs[0].shape.dims(), call.inputs[1].shape.dims()));
  Inference result{{DType::i32, shape}, {}};
  result.attrs.compare.comparison = static_cast<rk_u32>(comparison);
  return result;
}

/// Output of the second input's type, the broadcast of all three. E3001, E6004.
Result<Inference> infer_select(const OpCall& call) {
  RK_TRY(both, broadcast(call, call.inputs[1].shape.dims(), call.inputs[2].shape.dims()));
  RK_TRY(shape, broadcast(call, call.inputs[0].shape.dims(), both.dims()));
  return Inference{{call.inputs[1].dtype, shape}, {}};
}

/// Output like the input, of the type that the attributes name. E2005.
Result<Inference> infer_cast(const OpCall& call) {
  const DType dtype = call.attributes.dtype;
  if (element_bytes(dtype) == 0)
    return call_error(Errc::invalid_dtype, call,
                      std::string("to element type ") + name(dtype) + ", supported: f32, i32, i64");
  Inference result{{dtype, call.inputs[0].shape}, {}};
  result.attrs.cast.dtype = static_cast<rk_u32>(dtype);
  return result;
}

}  // namespace ringkernel::ops
