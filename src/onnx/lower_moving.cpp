// Ops that move elements, and change none.
#include <algorithm>
#include <array>
#include <numeric>

#include "onnx/rules.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel::onnx {
namespace {

constexpr std::int64_t rows_max = 1 << 20;

}  // namespace

Result<Graph::Value> lower_reshape(const Operation& operation) {
  RK_TRY_VOID(operation.integers(1));
  const auto dims = reshaped_dims(operation);
  if (!dims) return operation.refusal("a shape that the operand does not have");
  RK_TRY(x, operation.operand(0));
  return operation.add(ops::reshape(x, IntList(*dims)));
}

/// To two dims: those before the axis, and the others.
Result<Graph::Value> lower_flatten(const Operation& operation) {
  const Integers dims = operation.dims(0);
  const std::int64_t given = operation.node().integer("axis", 1);
  const std::int64_t axis = given < 0 ? given + operation.rank(0) : given;
  if (axis < 0 || axis > operation.rank(0)) return operation.refusal("no such axis");
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
  };
  RK_TRY(x, operation.operand(0));
  return operation.add(ops::reshape(
      x, {product(dims.begin(), dims.begin() + axis), product(dims.begin() + axis, dims.end())}));
}

Result<Graph::Value> lower_squeeze(const Operation& operation) {
  RK_TRY_VOID(operation.list(1, "axes"));
  const auto axes = squeezed_axes(operation);
  if (!axes) return operation.refusal("axes that the operand does not have");
  RK_TRY(x, operation.operand(0));
  if (axes->empty()) return x;
  return operation.add(ops::squeeze(x, IntList(*axes)));
}

Result<Graph::Value> lower_unsqueeze(const Operation& operation) {
  RK_TRY_VOID(operation.list(1, "axes"));
  const auto axes = unsqueezed_axes(operation);
  if (!axes) return operation.refusal("axes that the result cannot have");
  RK_TRY(x, operation.operand(0));
  return operation.add(ops::expand_dims(x, IntList(*axes)));
}

Result<Graph::Value> lower_transpose(const Operation& operation) {
  const auto found = permutation_of(operation);
  if (!found) return operation.refusal("'perm' is no order of the dims");
  Integers permutation = *found;
  const Value& value = operation.value(0);
  if (!value.is_channels_last()) {
    RK_TRY(x, operation.operand(0));
    return operation.transpose(x, permutation);
  }
  // Both at once; a line's one row stays behind.
  for (std::int64_t& dim : permutation) dim = place_with_channels_last(dim, value.is_line);
  if (value.is_line) permutation.push_back(1);
  RK_TRY(y, operation.transpose(*value.channels_last, permutation));
  if (!value.is_line) return y;
  return operation.add(ops::squeeze(y, {3}));
}

Result<Value> lower_slice(const Operation& operation) {
  for (std::size_t position = 1; position < operation.input_count(); ++position)
    if (operation.has(position)) RK_TRY_VOID(operation.integers(position));
  const auto ranges = sliced_ranges(operation);
  if (!ranges)
    return operation.refusal("a negative step, no such axis, or a result without elements");
  const Value& value = operation.value(0);
  const auto slice = [&](const Graph::Value& x, const Ranges& of) {
    return operation.add(ops::slice(x, {IntList(of.starts), IntList(of.ends), IntList(of.steps)}));
  };
  if (!value.is_channels_last()) {
    RK_TRY(x, operation.operand(0));
    RK_TRY(y, slice(x, *ranges));
    return y;
  }
  Ranges turned{Integers(4, 0), Integers(4, 1), Integers(4, 1)};
  for (std::int64_t dim = 0; dim < operation.rank(0); ++dim) {
    const auto from = static_cast<std::size_t>(dim);
    const auto to = static_cast<std::size_t>(place_with_channels_last(dim, value.is_line));
    turned.starts[to] = ranges->starts[from];
    turned.ends[to] = ranges->ends[from];
    turned.steps[to] = ranges->steps[from];
  }
  RK_TRY(y, slice(*value.channels_last, turned));
  return Value::with_channels_last(y, value.is_line);
}

/// Parts along an axis, as long as a list says, or all alike.
Result<Results> lower_split(const Operation& operation) {
  const auto axis = axis_of(operation.node().integer("axis", 0), operation.rank(0));
  if (!axis) return operation.refusal("no such axis");
  RK_TRY(lengths, operation.list(1, "split"));
  const std::int64_t extent = operation.dims(0)[static_cast<std::size_t>(*axis)];
  const auto count = static_cast<std::int64_t>(operation.node().outputs.size());
  if (lengths.empty())
    for (std::int64_t left = extent; left > 0; left -= lengths.back())
      lengths.push_back(std::min(left, (extent - 1) / count + 1));
  if (std::ranges::any_of(lengths, [](auto length) { return length < 1; }) ||
      std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) != extent)
    return operation.refusal("lengths that are not the operand's, or 0");
  RK_TRY(given, alike(operation, 1));
  const Graph::Value& x = given.operands[0];
  const auto extents = x.desc().shape.dims();
  Ranges part{Integers(extents.size(), 0), Integers(extents.begin(), extents.end()),
              Integers(extents.size(), 1)};
  const auto along = static_cast<std::size_t>(
      given.is_channels_last ? place_with_channels_last(*axis, given.is_line) : *axis);
  Results results;
  part.ends[along] = 0;
  for (const std::int64_t length : lengths) {
    part.starts[along] = part.ends[along];
    part.ends[along] += length;
    RK_TRY(y, operation.add(
                  ops::slice(x, {IntList(part.starts), IntList(part.ends), IntList(part.steps)})));
    results.push_back(given.as_they(y));
  }
  return results;
}

/// Broadcasts, which `mul` does too.
Result<Graph::Value> lower_expand(const Operation& operation) {
  RK_TRY(dims, operation.integers(1));
  RK_TRY(x, operation.operand(0));
  const DType dtype = x.desc().dtype;
  constexpr float real = 1;
  constexpr std::int64_t whole = 1;
  const void* const one = dtype == DType::f32 ? static_cast<const void*>(&real) : &whole;
  RK_TRY(ones, operation.add(ops::fill({{dtype, {}}, one}, IntList(dims))));
  return operation.add(ops::mul(x, ones));
}

namespace {

/// Ours takes rows, parts along dim 0: another axis comes in front, and goes back.
Result<Graph::Value> gathered(const Operation& operation, const Graph::Value& x, std::int64_t axis,
                              const Graph::Value& indices) {
  if (axis == 0) return operation.add(ops::gather(x, indices));
  Integers front(x.desc().shape.rank());
  std::iota(front.begin(), front.end(), 0);
  std::rotate(front.begin(), front.begin() + axis, front.begin() + axis + 1);
  RK_TRY(turned, operation.add(ops::transpose(x, IntList(front))));
  RK_TRY(parts, operation.add(ops::gather(turned, indices)));
  // The dims of the indices are in front, and take the place of the axis, behind `axis` dims.
  Integers back(parts.desc().shape.rank());
  std::iota(back.begin(), back.end(), 0);
  const auto index_rank = static_cast<std::int64_t>(indices.desc().shape.rank());
  std::rotate(back.begin(), back.begin() + index_rank, back.begin() + index_rank + axis);
  return operation.add(ops::transpose(parts, IntList(back)));
}

}  // namespace

Result<Graph::Value> taken(const Operation& operation, const Graph::Value& x, std::int64_t axis,
                           const Integers& indices) {
  RK_TRY(shape, Shape::make(std::array{static_cast<std::int64_t>(indices.size())}));
  RK_TRY(known, operation.constant({{DType::i64, shape}, indices.data()}));
  return gathered(operation, x, axis, known);
}

Result<Graph::Value> lower_gather(const Operation& operation) {
  const auto axis = axis_of(operation.node().integer("axis", 0), operation.rank(0));
  if (!axis) return operation.refusal("no such axis");
  RK_TRY(x, operation.operand(0));
  if (!operation.value(1).is_known()) {
    RK_TRY(indices, operation.operand(1));
    return gathered(operation, x, *axis, indices);
  }
  RK_TRY(given, operation.integers(1));  // negative ones count from the end
  const std::int64_t extent = operation.dims(0)[static_cast<std::size_t>(*axis)];
  for (std::int64_t& index : given) {
    const auto inside = axis_of(index, extent);
    if (!inside) return operation.refusal("an index out of range");
    index = *inside;
  }
  RK_TRY(shape, Shape::make(operation.dims(1)));
  RK_TRY(indices, operation.constant({{DType::i64, shape}, given.data()}));
  return gathered(operation, x, *axis, indices);
}

namespace {

/// x between elements that all are operand 2; 0 if that is left out.
Result<Graph::Value> enclosed(const Operation& operation, const Graph::Value& x, IntList low,
                              IntList high) {
  constexpr std::int64_t zero = 0;  // of any type
  if (!operation.has(2))
    return operation.add(ops::pad(x, {{x.desc().dtype, {}}, &zero}, low, high));
  RK_TRY(value, operation.operand(2));
  return operation.add(ops::pad(x, value, low, high));
}

/// x along an axis with elements of its own before and behind: mirrored, or the first and last one.
Result<Graph::Value> repeated(const Operation& operation, const Graph::Value& x, std::int64_t axis,
                              std::int64_t before, std::int64_t after, bool is_mirrored) {
  const std::int64_t extent = x.desc().shape[static_cast<std::size_t>(axis)];
  Integers indices;
  for (std::int64_t at = -before; at < extent + after; ++at) {
    const std::int64_t mirrored = at < 0 ? -at : at < extent ? at : 2 * (extent - 1) - at;
    indices.push_back(is_mirrored ? mirrored : std::clamp<std::int64_t>(at, 0, extent - 1));
  }
  return taken(operation, x, axis, indices);
}

}  // namespace

Result<Value> lower_pad(const Operation& operation) {
  const std::string mode = operation.node().text("mode", "constant");
  RK_TRY(pads, operation.integers(1));
  RK_TRY(given, alike(operation, 1));
  const Integers dims = operation.dims(0);
  if (operation.has(3) || pads.size() != 2 * dims.size())
    return operation.refusal("axes, or other pads");
  Graph::Value result = given.operands[0];
  Integers low(result.desc().shape.rank());
  Integers high(low.size());
  bool is_enclosed = false;
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    const std::int64_t before = pads[dim];
    const std::int64_t after = pads[dims.size() + dim];
    if (before == 0 && after == 0) continue;
    const std::int64_t extent = dims[dim];
    const bool is_mirrored = mode == "reflect" && before < extent && after < extent;
    const bool is_known = mode == "constant" || mode == "edge" || is_mirrored;
    if (!is_known || before < 0 || after < 0 || before > rows_max || after > rows_max ||
        extent > rows_max)
      return operation.refusal("mode '" + mode + "', or such pads");
    const auto place = static_cast<std::int64_t>(dim);
    const std::int64_t axis =
        given.is_channels_last ? place_with_channels_last(place, given.is_line) : place;
    low[static_cast<std::size_t>(axis)] = before;
    high[static_cast<std::size_t>(axis)] = after;
    is_enclosed = mode == "constant";
    if (is_enclosed) continue;
    RK_TRY(padded, repeated(operation, result, axis, before, after, is_mirrored));
    result = padded;
  }
  if (is_enclosed) {
    RK_TRY(padded, enclosed(operation, result, IntList(low), IntList(high)));
    result = padded;
  }
  return given.as_they(result);
}

Result<Graph::Value> joined(const Operation& operation, std::vector<Graph::Value> parts,
                            std::int64_t axis) {
  while (parts.size() > 1) {
    std::vector<Graph::Value> pairs;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
      RK_TRY(both, operation.add(ops::concat(parts[i], parts[i + 1], axis)));
      pairs.push_back(both);
    }
    if (parts.size() % 2 != 0) pairs.push_back(parts.back());
    parts = std::move(pairs);
  }
  return parts[0];
}

/// Known ones without elements are left out.
Result<Value> lower_concat(const Operation& operation) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < operation.input_count(); ++i) {
    if (!operation.has(i)) return operation.refusal("operand " + std::to_string(i) + " is missing");
    const Value& value = operation.value(i);
    if (!value.is_known() || value.known->element_count() != 0) positions.push_back(i);
  }
  if (positions.empty()) return operation.refusal("of nothing");
  const std::int64_t rank = operation.rank(positions[0]);
  for (const std::size_t i : positions)
    if (operation.rank(i) != rank) return operation.refusal("of operands of other ranks");
  const auto axis = axis_of(operation.node().integer("axis", 0), rank);
  if (!axis) return operation.refusal("no such axis");
  RK_TRY(given, alike(operation, positions));
  RK_TRY(all,
         joined(operation, given.operands,
                given.is_channels_last ? place_with_channels_last(*axis, given.is_line) : *axis));
  return given.as_they(all);
}

}  // namespace ringkernel::onnx
