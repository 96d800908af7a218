#include <algorithm>

#include "ops/rules.hpp"

namespace ringkernel::ops {

namespace {

std::string in_dim(std::size_t dim) { return " in dim " + std::to_string(dim); }

std::string bound(const char* name, std::int64_t value, std::size_t dim, std::uint32_t extent) {
  return std::string(name) + " " + std::to_string(value) + in_dim(dim) +
         " lies beyond its extent " + std::to_string(extent);
}

std::string negative(const char* name, std::int64_t value, std::size_t dim) {
  return std::string(name) + " " + std::to_string(value) + in_dim(dim) +
         " is negative, and does not count from the end";
}

}  // namespace

/// Rank 0. E4006, E6001.
Result<Inference> infer_index(const OpCall& call) {
  const Shape& input = call.inputs[0].shape;
  const IntList& indices = call.attributes.indices;
  if (indices.count() != input.rank())
    return call_error(
        Errc::index_count_mismatch, call,
        std::to_string(indices.count()) + " indices for rank " + std::to_string(input.rank()));
  Inference result{{call.inputs[0].dtype, {}}, {}};
  for (std::size_t dim = 0; dim < input.rank(); ++dim) {
    const std::int64_t index = indices.values()[dim];
    if (index < 0 || index >= input[dim])
      return call_error(Errc::out_of_bounds, call,
                        "index " + std::to_string(index) + in_dim(dim) + " is outside [0, " +
                            std::to_string(input[dim]) + ")");
    result.attrs.index.indices[dim] = static_cast<rk_u32>(index);
  }
  return result;
}

/// How many elements `slice` takes in each dim. E3006, E4007, E4008, E6001.
Result<Inference> infer_slice(const OpCall& call) {
  const Shape& input = call.inputs[0].shape;
  const auto& [starts, ends, steps] = call.attributes.slice;
  for (const IntList* list : {&starts, &ends, &steps})
    if (list->count() != input.rank())
      return call_error(Errc::slice_count_mismatch, call,
                        std::to_string(starts.count()) + " starts, " +
                            std::to_string(ends.count()) + " ends and " +
                            std::to_string(steps.count()) + " steps for rank " +
                            std::to_string(input.rank()));
  std::array<std::int64_t, rank_max> dims{};
  rk_op_attrs attrs{};
  for (std::size_t dim = 0; dim < input.rank(); ++dim) {
    const std::int64_t step = steps.values()[dim];
    if (step <= 0)
      return call_error(Errc::invalid_slice_step, call,
                        "step " + std::to_string(step) + in_dim(dim));
    const std::int64_t start = starts.values()[dim];
    const std::int64_t end = ends.values()[dim];
    const std::int64_t extent = input[dim];
    if (start < 0) return call_error(Errc::out_of_bounds, call, negative("start", start, dim));
    if (end < 0) return call_error(Errc::out_of_bounds, call, negative("end", end, dim));
    if (start > extent)
      return call_error(Errc::out_of_bounds, call, bound("start", start, dim, input[dim]));
    if (end > extent)
      return call_error(Errc::out_of_bounds, call, bound("end", end, dim, input[dim]));
    if (start >= end)
      return call_error(Errc::invalid_dimension, call,
                        "nothing lies from " + std::to_string(start) + " to " +
                            std::to_string(end) + in_dim(dim));
    dims[dim] = (end - start - 1) / step + 1;
    attrs.slice.starts[dim] = as_word(start);
    // A step beyond 32 bits leads out of any dim, so that it is never taken.
    attrs.slice.steps[dim] = as_word(std::min(step, word_max));
  }
  const Shape shape = Shape::make(std::span(dims).first(input.rank())).value();
  return Inference{{call.inputs[0].dtype, shape}, attrs};
}

/// The first input with `low` and `high` more in each dim; any shape of the second one will do.
/// E6004; invalid_argument: lists that are not a number from 0 on for each dim.
Result<Inference> infer_pad(const OpCall& call) {
  const Shape& input = call.inputs[0].shape;
  const IntList& low = call.attributes.low;
  const IntList& high = call.attributes.high;
  for (const IntList* list : {&low, &high})
    if (!are_words(*list, input.rank(), 0))
      return call_error(Errc::invalid_argument, call,
                        std::string(list == &low ? "low " : "high ") + list_text(*list) +
                            " is not a number from 0 to " + std::to_string(word_max) +
                            " for each of " + std::to_string(input.rank()) + " dims");
  std::array<std::int64_t, rank_max> dims{};
  rk_op_attrs attrs{};
  for (std::size_t dim = 0; dim < input.rank(); ++dim) {
    dims[dim] = low.values()[dim] + input[dim] + high.values()[dim];
    attrs.pad.low[dim] = as_word(low.values()[dim]);
    attrs.pad.high[dim] = as_word(high.values()[dim]);
  }
  auto shape = Shape::make(std::span(dims).first(input.rank()));
  if (!shape) return call_error(Errc::allocation_failure, call, shape.error().detail);
  return Inference{{call.inputs[0].dtype, *shape}, attrs};
}

/// The shape of the indices, then that of the first operand without dim 0. E3002, E6004. The device
/// checks the indices.
Result<Inference> infer_gather(const OpCall& call) {
  const Shape& input = call.inputs[0].shape;
  const Shape& indices = call.inputs[1].shape;
  if (input.rank() == 0)
    return call_error(Errc::rank_mismatch, call, "expected rank 1 or more, got a scalar");
  const std::size_t rank = indices.rank() + input.rank() - 1;
  if (rank > rank_max)
    return call_error(
        Errc::rank_mismatch, call,
        "rank " + std::to_string(rank) + " exceeds the limit of " + std::to_string(rank_max));
  std::array<std::int64_t, rank_max> dims{};
  const auto rows = std::ranges::copy(indices.dims(), dims.begin()).out;
  std::ranges::copy(input.dims().subspan(1), rows);
  auto shape = Shape::make(std::span(dims).first(rank));
  if (!shape) return call_error(Errc::allocation_failure, call, shape.error().detail);
  return Inference{{call.inputs[0].dtype, *shape}, {}};
}

}  // namespace ringkernel::ops
