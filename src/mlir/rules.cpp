// What operations of a function become, besides those of arith and math.
#include <algorithm>
#include <string_view>

#include "mlir/reader.hpp"
#include "mlir/scalars.hpp"

namespace ringkernel::mlir {
namespace {

Error refused_form(const std::string& why) { return {Errc::unsupported_operation, why}; }

/// Offsets, sizes and strides that the text gives, inside of these dims.
struct Part {
  Integers starts;
  Integers counts;
  Integers steps;
};
Result<Part> part_of(const Operation& operation, const Integers& dims) {
  const auto starts = operation.ir.integers(operation.handle, "static_offsets");
  const auto counts = operation.ir.integers(operation.handle, "static_sizes");
  const auto steps = operation.ir.integers(operation.handle, "static_strides");
  if (!starts || !counts || !steps)
    return refused_form("offsets, sizes or strides that only the run knows");
  if (std::ranges::any_of(*steps, [](auto step) { return step < 1; }) ||
      std::ranges::any_of(*counts, [](auto count) { return count < 1; }))
    return refused_form("a stride below 1, or a part without elements");
  // MLIR 19 does not look.
  bool is_inside = starts->size() == dims.size() && counts->size() == dims.size() &&
                   steps->size() == dims.size();
  for (std::size_t dim = 0; is_inside && dim < dims.size(); ++dim)
    is_inside = (*starts)[dim] >= 0 && (*starts)[dim] < dims[dim] &&
                (*counts)[dim] - 1 <= (dims[dim] - 1 - (*starts)[dim]) / (*steps)[dim];
  if (!is_inside) return refused_form("a part that is not inside");
  return Part{*starts, *counts, *steps};
}

Result<Results> one(Result<Value> value) {
  RK_TRY(made, std::move(value));
  return Results{std::move(made)};
}

/// Numbers take the dims of the tensors beside them.
Result<Results> lower_scalar(const Operation& operation) {
  std::vector<Value> operands;
  std::size_t rank = 0;
  const std::size_t count = operation.ir.operands(operation.handle).size();
  for (std::size_t i = 0; i < count; ++i) rank = std::max(rank, operation.operand(i).rank());
  for (std::size_t i = 0; i < count; ++i) {
    const Value& value = operation.operand(i);
    if (value.rank() == rank) {
      operands.push_back(value);
      continue;
    }
    RK_TRY(wide, operation.builder.with_dims(value, {}, Integers(rank, 1)));
    operands.push_back(std::move(wide));
  }
  return one(apply_scalar_op(operation.ir, operation.builder, operation.handle, operands));
}

Result<Results> lower_constant(const Operation& operation) {
  const auto value = operation.ir.elements(operation.ir.attribute(operation.handle, "value"));
  if (!value) return refused_form("a constant of this kind");
  return Results{*value};
}

Result<Results> lower_generic(const Operation& operation) {
  return Generic(operation.ir, operation.builder, operation.handle, operation.values).results();
}

Result<Results> lower_softmax(const Operation& operation) {
  const auto dim = operation.ir.integer(operation.handle, "dimension");
  if (!dim) return refused_form("it has no dimension");
  RK_TRY(x, operation.builder.whole(operation.operand(0)));
  RK_TRY(made, operation.builder.add(ops::softmax(x, {*dim})));
  return Results{Value::of(made)};
}

/// Memory that is there, and has nothing in it.
Result<Results> lower_empty(const Operation& operation) {
  const ValueType type = operation.type();
  return Results{Value::unwritten(type.dtype, type.is_truth, type.dims)};
}

/// The same elements with other dims.
Result<Results> lower_reshape(const Operation& operation) {
  return one(operation.builder.reshaped(operation.operand(0), operation.type().dims));
}

Result<Results> lower_same(const Operation& operation) { return Results{operation.operand(0)}; }

Result<Results> lower_slice(const Operation& operation) {
  RK_TRY(part, part_of(operation, operation.operand(0).dims));
  RK_TRY(cut, operation.builder.slice(operation.operand(0), part.starts, part.counts, part.steps));
  return one(operation.builder.reshaped(cut, operation.type().dims));
}

/// Dim after dim from `dim` on: what lies before the part, the part, and what lies behind it.
Result<Value> inserted(Builder& builder, const Value& into, const Value& part,
                       const Integers& starts, std::size_t dim) {
  if (dim == into.rank()) return part;
  const std::int64_t count = part.dims[dim];
  const auto cut = [&](std::int64_t start, std::int64_t length) {
    Integers from(into.rank(), 0);
    Integers counts = into.dims;
    from[dim] = start;
    counts[dim] = length;
    return builder.slice(into, from, counts, Integers(into.rank(), 1));
  };
  std::vector<Value> parts;
  if (starts[dim] > 0) {
    RK_TRY(before, cut(0, starts[dim]));
    parts.push_back(std::move(before));
  }
  RK_TRY(middle, cut(starts[dim], count));
  RK_TRY(changed, inserted(builder, middle, part, starts, dim + 1));
  parts.push_back(std::move(changed));
  const std::int64_t end = starts[dim] + count;
  if (end < into.dims[dim]) {
    RK_TRY(behind, cut(end, into.dims[dim] - end));
    parts.push_back(std::move(behind));
  }
  return builder.concat(parts, dim);
}

/// Nothing that is read depends on what nobody has written: zeros will do.
Value or_zeros(const Value& value) {
  if (value.is_written()) return value;
  Value zeros = Value::number(value.dtype, 0, value.dims);
  zeros.is_truth = value.is_truth;
  return zeros;
}

Result<Results> lower_insert(const Operation& operation) {
  RK_TRY(part, part_of(operation, operation.operand(1).dims));
  if (std::ranges::any_of(part.steps, [](auto step) { return step != 1; }))
    return refused_form("a stride above 1");
  RK_TRY(source, operation.builder.reshaped(operation.operand(0), part.counts));
  return one(inserted(operation.builder, or_zeros(operation.operand(1)), source, part.starts, 0));
}

Result<Results> lower_pad(const Operation& operation) {
  const auto low = operation.ir.integers(operation.handle, "static_low");
  const auto high = operation.ir.integers(operation.handle, "static_high");
  const auto body = operation.ir.operations(operation.ir.block(operation.handle));
  if (!low || !high) return refused_form("paddings that only the run knows");
  const auto is_cut = [](std::int64_t padding) { return padding < 0; };
  if (std::ranges::any_of(*low, is_cut) || std::ranges::any_of(*high, is_cut))
    return refused_form("a padding below 0");
  // A number from outside, or a constant beside it.
  const MlirValue yielded = operation.ir.operands(body.back())[0];
  std::optional<Value> number;
  if (const auto outside = operation.values.find(yielded.ptr); outside != operation.values.end())
    number = outside->second;
  for (const MlirOperation inner : body)
    if (operation.ir.name(inner) == "arith.constant" &&
        operation.ir.results(inner)[0].ptr == yielded.ptr)
      number = operation.ir.elements(operation.ir.attribute(inner, "value"));
  if (!number) return refused_form("padding by other things than one number");
  return one(operation.builder.pad(operation.operand(0), *number, *low, *high));
}

Result<Results> lower_concat(const Operation& operation) {
  std::vector<Value> parts;
  for (std::size_t i = 0; i < operation.ir.operands(operation.handle).size(); ++i)
    parts.push_back(operation.operand(i));
  const auto dim = operation.ir.integer(operation.handle, "dim").value_or(0);
  return one(operation.builder.concat(parts, static_cast<std::size_t>(dim)));
}

Result<Results> lower_splat(const Operation& operation) {
  return one(operation.builder.with_dims(operation.operand(0), {}, operation.type().dims));
}

Result<Results> lower_from_elements(const Operation& operation) {
  std::vector<Value> parts;
  for (std::size_t i = 0; i < operation.ir.operands(operation.handle).size(); ++i) {
    RK_TRY(part, operation.builder.reshaped(operation.operand(i), {1}));
    parts.push_back(std::move(part));
  }
  RK_TRY(flat, operation.builder.concat(parts, 0));
  return one(operation.builder.reshaped(flat, operation.type().dims));
}

/// One element, by indices that the text gives.
Result<Results> lower_extract(const Operation& operation) {
  const Value& x = operation.operand(0);
  Integers starts;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const auto index = operation.operand(i + 1).splat();
    if (!index || *index < 0 || *index >= static_cast<double>(x.dims[i]))
      return refused_form("an index that only the run knows, or outside");
    starts.push_back(static_cast<std::int64_t>(*index));
  }
  RK_TRY(cut, operation.builder.slice(x, starts, Integers(x.rank(), 1), Integers(x.rank(), 1)));
  return one(operation.builder.reshaped(cut, {}));
}

/// Into memory that is the second operand.
Result<Results> lower_copy(const Operation& operation) { return Results{operation.operand(0)}; }

/// A condition that holds, or memory that is given back.
Result<Results> lower_nothing(const Operation&) { return Results{}; }

/// The elements of a memref.global that nobody writes.
Result<Results> lower_global(const Operation& operation) {
  const auto name = operation.ir.string(operation.handle, "name");
  for (const MlirOperation global : operation.ir.operations(operation.module)) {
    if (operation.ir.name(global) != "memref.global" ||
        operation.ir.string(global, "sym_name") != name)
      continue;
    if (operation.ir.attribute(global, "constant").is_null())
      return refused_form("a global that is no constant");
    const MlirAttribute elements = operation.ir.attribute(global, "initial_value");
    const auto value = elements.is_null() ? std::nullopt : operation.ir.elements(elements);
    if (!value) return refused_form("a global without elements");
    return Results{*value};
  }
  return refused_form("there is no such global");
}

struct Row {
  std::string_view name;
  Rule rule;
};
constexpr Row op_rules[] = {
    {"arith.constant", lower_constant},
    {"cf.assert", lower_nothing},
    {"linalg.generic", lower_generic},
    {"linalg.map", lower_generic},
    {"linalg.softmax", lower_softmax},
    {"memref.alloc", lower_empty},
    {"memref.alloca", lower_empty},
    {"memref.copy", lower_copy},
    {"memref.dealloc", lower_nothing},
    {"memref.get_global", lower_global},
    {"tensor.cast", lower_same},
    {"tensor.collapse_shape", lower_reshape},
    {"tensor.concat", lower_concat},
    {"tensor.empty", lower_empty},
    {"tensor.expand_shape", lower_reshape},
    {"tensor.extract", lower_extract},
    {"tensor.extract_slice", lower_slice},
    {"tensor.from_elements", lower_from_elements},
    {"tensor.insert_slice", lower_insert},
    {"tensor.pad", lower_pad},
    {"tensor.reshape", lower_reshape},
    {"tensor.splat", lower_splat},
};

}  // namespace

Rule find_rule(std::string_view name) {
  const auto* const found = std::ranges::find(op_rules, name, &Row::name);
  if (found != std::end(op_rules)) return found->rule;
  return is_scalar_op(name) ? lower_scalar : nullptr;
}

}  // namespace ringkernel::mlir
