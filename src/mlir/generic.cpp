#include "mlir/generic.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "mlir/scalars.hpp"

namespace ringkernel::mlir {
namespace {

Error refused_body(const std::string& why) { return {Errc::unsupported_operation, why}; }

/// So many numbers of turns are written down as a constant.
constexpr std::int64_t indices_max = 1 << 20;

/// How an op of the body takes all elements together.
struct Folding {
  std::string_view name;
  Op op;  ///< add, max or min
};
constexpr Folding foldings[] = {
    {"arith.addf", Op::add},  {"arith.addi", Op::add}, {"arith.maximumf", Op::max},
    {"arith.maxsi", Op::max}, {"arith.ori", Op::max},  {"arith.minimumf", Op::min},
    {"arith.minsi", Op::min}, {"arith.andi", Op::min},
};

const Folding* find_folding(std::string_view name) {
  const auto* const found = std::ranges::find(foldings, name, &Folding::name);
  return found == std::end(foldings) ? nullptr : found;
}

/// Whether op(number, x) is x, whatever x is.
bool is_neutral(const Value& value, Op op) {
  const auto number = value.splat();
  if (!number) return false;
  if (op == Op::add) return *number == 0;
  const double sign = op == Op::max ? -1 : 1;
  if (value.dtype == DType::f32) return *number == sign * std::numeric_limits<double>::infinity();
  if (value.is_truth) return *number == (op == Op::max ? 0 : 1);
  if (value.dtype == DType::i32)
    return *number == (op == Op::max ? std::numeric_limits<std::int32_t>::min()
                                     : std::numeric_limits<std::int32_t>::max());
  return false;
}

/// The order of all elements turned round; done twice it is undone.
Result<Value> mirrored(Builder& builder, const Value& x) {
  if (x.dtype == DType::f32) return builder.unary(Op::neg, x);
  return builder.binary(Op::sub, Value::number(x.dtype, -1, Integers(x.rank(), 1)), x);
}

}  // namespace

Generic::Generic(const Ir& ir, Builder& builder, MlirOperation operation, const Values& values)
    : ir_(ir),
      api_(ir.api()),
      builder_(builder),
      operation_(operation),
      values_(values),
      body_(ir.block(operation)) {}

Result<std::vector<Value>> Generic::results() {
  RK_TRY_VOID(take_operands());
  RK_TRY_VOID(run_body());
  std::vector<Value> all;
  for (const Out& out : outs_) {
    RK_TRY(value, result(out));
    all.push_back(std::move(value));
  }
  return all;
}

bool Generic::is_map() const { return ir_.name(operation_) == "linalg.map"; }

std::vector<MlirAffineMap> Generic::maps_of(const std::vector<MlirValue>& operands) const {
  std::vector<MlirAffineMap> maps;
  if (is_map()) {  // each turn has the same place in all operands
    const auto rank = static_cast<std::intptr_t>(values_.at(operands[0].ptr).rank());
    maps.assign(operands.size(), api_.mlirAffineMapMultiDimIdentityGet(
                                     api_.mlirOperationGetContext(operation_), rank));
    return maps;
  }
  const MlirAttribute list = ir_.attribute(operation_, "indexing_maps");
  if (list.is_null()) return maps;
  for (std::intptr_t i = 0; i < api_.mlirArrayAttrGetNumElements(list); ++i)
    maps.push_back(api_.mlirAffineMapAttrGetValue(api_.mlirArrayAttrGetElement(list, i)));
  return maps;
}

Result<void> Generic::take_operands() {
  const std::vector<MlirValue> operands = ir_.operands(operation_);
  std::vector<MlirValue> elements = ir_.arguments(body_);
  if (is_map()) elements.resize(operands.size());  // nothing names what is there before
  const std::vector<MlirValue> results = ir_.results(operation_);
  const std::vector<MlirValue> yielded = ir_.operands(ir_.operations(body_).back());
  const std::vector<MlirAffineMap> maps = maps_of(operands);
  if (maps.size() != operands.size() || yielded.size() > operands.size() ||
      elements.size() < operands.size())
    return refused_body("a form of it that is not known");
  std::vector<Integers> dims;
  dims.reserve(operands.size());
  for (const MlirValue operand : operands) dims.push_back(values_.at(operand.ptr).dims);
  // An op reads all that it needs before it writes; loops do not.
  for (std::size_t out = operands.size() - yielded.size(); out < operands.size(); ++out)
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (operands[i].ptr == operands[out].ptr && maps[i].ptr != maps[out].ptr &&
          ir_.type(operands[i])->is_memory)
        return refused_body("memory that it writes in one order and reads in another");
  RK_TRY(extents, loop_extents(api_, maps, dims));
  extents_ = extents;
  Loops all(extents_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::size_t first_out = operands.size() - yielded.size();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    RK_TRY(operand, walked(api_, builder_, maps[i], values_.at(operands[i].ptr), extents_));
    bool is_reduced = false;
    if (i >= first_out) {
      Out out{operands[i], elements[i], yielded[i - first_out], {}, {}};
      for (const DimMap& dim : operand.map.dims)
        if (dim.loop) out.loops.push_back(*dim.loop);
      out.reduced = but(all, out.loops);
      is_reduced = !out.reduced.empty();
      const bool is_backwards = std::ranges::any_of(operand.map.dims, &DimMap::is_backwards);
      const bool is_diagonal =
          std::set(out.loops.begin(), out.loops.end()).size() != out.loops.size();
      if (operand.map.has_windows() || operand.value.dims != dims[i] || is_backwards || is_diagonal)
        return refused_body("a result that the loops do not write as a whole");
      // Of results that nobody uses nothing has to be known.
      if (i - first_out < results.size() && !ir_.is_used(results[i - first_out])) out.yielded = {};
      outs_.push_back(std::move(out));
    }
    if (is_reduced) {
      waiting_.insert(elements[i].ptr);
    } else if (operand.map.has_windows()) {
      waiting_.insert(elements[i].ptr);
      images_.emplace(elements[i].ptr, operand);
    } else if (!elements[i].is_null() && ir_.is_used(elements[i])) {
      RK_TRY(element, term_of(builder_, operand));
      terms_.emplace(elements[i].ptr, element);
    }
  }
  return {};
}

Result<Term> Generic::term(MlirValue value) const {
  if (const auto inside = terms_.find(value.ptr); inside != terms_.end()) return inside->second;
  const auto outside = values_.find(value.ptr);
  if (outside == values_.end() || outside->second.rank() != 0)
    return refused_body("an element that is not known");
  return Term{outside->second, {}};
}

bool Generic::waits(MlirOperation operation) const {
  const auto operands = ir_.operands(operation);
  if (std::ranges::any_of(operands,
                          [&](MlirValue operand) { return waiting_.contains(operand.ptr); }))
    return true;
  if (ir_.name(operation) != "arith.mulf") return false;
  const MlirValue product = ir_.results(operation)[0];
  if (!ir_.is_used_once(product)) return false;  // others take it as it is
  return std::ranges::any_of(outs_, [&](const Out& out) {
    return !out.reduced.empty() && !out.yielded.is_null() && added(out).ptr == product.ptr &&
           ir_.name(makers_.at(out.yielded.ptr)) == "arith.addf";
  });
}

MlirValue Generic::added(const Out& out) const {
  const auto maker = makers_.find(out.yielded.ptr);
  if (maker == makers_.end() || find_folding(ir_.name(maker->second)) == nullptr) return {};
  const auto operands = ir_.operands(maker->second);
  if (operands.size() != 2) return {};
  if (operands[0].ptr == out.element.ptr) return operands[1];
  if (operands[1].ptr == out.element.ptr) return operands[0];
  return {};
}

Result<void> Generic::run_body() {
  const std::vector<MlirOperation> operations = ir_.operations(body_);
  for (const MlirOperation operation : operations)
    for (const MlirValue made : ir_.results(operation)) makers_.emplace(made.ptr, operation);
  for (const MlirOperation operation : operations) {
    const std::vector<MlirValue> made = ir_.results(operation);
    if (made.empty()) {
      // What is asserted, of indices, gather sees to.
      const std::string_view name = ir_.name(operation);
      if (name == "linalg.yield" || name == "cf.assert") continue;
      return refused_body(ir_.place(operation) + " in it: it is not read");
    }
    if (waits(operation)) {
      for (const MlirValue value : made) waiting_.insert(value.ptr);
      continue;
    }
    if (std::ranges::none_of(made, [&](MlirValue value) { return ir_.is_used(value); })) continue;
    Result<Term> done = run(operation);
    if (!done) {
      if (!builder_.graph().status()) return std::move(done).error();
      return Error(done.error().code, ir_.place(operation) + " in it: " + done.error().detail);
    }
    terms_.emplace(made[0].ptr, *std::move(done));
  }
  return {};
}

Result<Term> Generic::run(MlirOperation operation) {
  const std::string_view name = ir_.name(operation);
  if (name == "arith.constant") {
    const auto number = ir_.elements(ir_.attribute(operation, "value"));
    if (!number) return Error(Errc::invalid_dtype, "f32, i32, i64 and i1 are read");
    return Term{*number, {}};
  }
  if (name == "linalg.index") {
    const auto loop = static_cast<std::size_t>(ir_.integer(operation, "dim").value_or(0));
    if (extents_.at(loop) > indices_max)
      return Error(Errc::limit_exceeded, "a loop of so many turns is not counted");
    return Term{builder_.count(extents_[loop]), {loop}};
  }
  if (name == "tensor.extract" || name == "memref.load") return extracted(operation);
  if (!is_scalar_op(name)) return refused_body("it is not read");
  Loops loops;
  std::vector<Term> terms;
  for (const MlirValue operand : ir_.operands(operation)) {
    RK_TRY(one, term(operand));
    loops = together(loops, one.loops);
    terms.push_back(std::move(one));
  }
  std::vector<Value> operands;
  for (const Term& one : terms) {
    RK_TRY(value, over(builder_, one, loops, extents_));
    operands.push_back(std::move(value));
  }
  RK_TRY(value, apply_scalar_op(ir_, builder_, operation, operands));
  return Term{value, loops};
}

/// Elements of a tensor by indices that are computed. The last ones may be the loops themselves:
/// then whole rows are taken, else single elements.
Result<Term> Generic::extracted(MlirOperation operation) {
  const std::vector<MlirValue> operands = ir_.operands(operation);
  if (std::ranges::any_of(outs_,
                          [&](const Out& out) { return out.operand.ptr == operands[0].ptr; }))
    return refused_body("memory that it writes");
  const auto table = values_.find(operands[0].ptr);
  if (table == values_.end()) return refused_body("a tensor that the body makes itself");
  const Integers& dims = table->second.dims;
  std::vector<Term> indices;
  Loops loops;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    RK_TRY(index, term(operands[i]));
    indices.push_back(std::move(index));
  }
  std::size_t rows = indices.size();  // so many dims are looked up, the others taken whole
  Loops tail;
  while (rows > 0) {
    const auto maker = makers_.find(operands[rows].ptr);
    if (maker == makers_.end() || ir_.name(maker->second) != "linalg.index") break;
    const std::size_t loop = indices[rows - 1].loops[0];
    if (extents_[loop] != dims[rows - 1] || has(tail, loop)) break;
    tail.insert(tail.begin(), loop);
    --rows;
  }
  for (std::size_t i = 0; i < rows; ++i) loops = together(loops, indices[i].loops);
  // Rows come behind their indices.
  if (!both(loops, tail).empty()) {
    rows = indices.size();
    tail.clear();
    for (const Term& index : indices) loops = together(loops, index.loops);
  }
  if (rows == 0) return Term{table->second, tail};
  Value place = Value::number(DType::i64, 0, Integers(loops.size(), 1));
  for (std::size_t i = 0; i < rows; ++i) {
    RK_TRY(index, over(builder_, indices[i], loops, extents_));
    RK_TRY(wide, builder_.cast(index, DType::i64));
    if (i == 0) {
      place = wide;
      continue;
    }
    RK_TRY(before, builder_.binary(Op::mul, place,
                                   Value::number(DType::i64, dims[i], Integers(loops.size(), 1))));
    RK_TRY(sum, builder_.binary(Op::add, before, wide));
    place = sum;
  }
  Integers flat{element_count(std::span(dims).first(rows))};
  flat.insert(flat.end(), dims.begin() + static_cast<std::ptrdiff_t>(rows), dims.end());
  RK_TRY(lines, builder_.reshaped(table->second, flat));
  RK_TRY(from, builder_.whole(lines));
  RK_TRY(which, builder_.whole(place));
  RK_TRY(made, builder_.add(ops::gather(from, which)));
  Value value = Value::of(made);
  value.is_truth = table->second.is_truth;
  loops.insert(loops.end(), tail.begin(), tail.end());
  return Term{value, loops};
}

Result<Value> Generic::result(const Out& out) {
  const auto type = ir_.type(out.operand);
  if (out.yielded.is_null()) return Value::unwritten(type->dtype, type->is_truth, type->dims);
  if (!waiting_.contains(out.yielded.ptr)) {
    RK_TRY(element, term(out.yielded));
    if (both(element.loops, out.reduced).empty()) return placed(element, out);
    return refused_body("the last turn of a loop counts alone");
  }
  RK_TRY(element, reduction(out));
  return placed(element, out);
}

Result<Term> Generic::reduction(const Out& out) {
  const MlirValue next = added(out);
  if (next.is_null() || out.reduced.empty())
    return refused_body(
        "over loops addf, addi, maximumf, maxsi, minimumf, minsi, andi and ori are read");
  const Folding& folding = *find_folding(ir_.name(makers_.at(out.yielded.ptr)));
  const Op op = folding.op;
  const bool is_of_bits = folding.name == "arith.ori" || folding.name == "arith.andi";
  if (values_.at(out.operand.ptr).is_truth != is_of_bits)
    return refused_body("arithmetic of i1, or bits of numbers");
  RK_TRY(folded, gathered_up(next, op, out));
  const Value& before = values_.at(out.operand.ptr);
  folded.value.is_truth = before.is_truth;
  if (is_neutral(before, op)) return folded;
  Walked start{{}, before};
  for (const std::size_t loop : out.loops) start.map.dims.push_back({loop, {}});
  if (out.loops.size() != before.rank()) {  // dims of extent 1 that no loop walks
    RK_TRY(flat, builder_.reshaped(before, [&] {
      Integers dims;
      for (const std::size_t loop : out.loops) dims.push_back(extents_[loop]);
      return dims;
    }()));
    start.value = flat;
  }
  RK_TRY(first, term_of(builder_, start));
  const Loops loops = together(first.loops, folded.loops);
  RK_TRY(a, over(builder_, folded, loops, extents_));
  RK_TRY(b, over(builder_, first, loops, extents_));
  RK_TRY(value, builder_.binary(op, a, b));
  value.is_truth = before.is_truth;
  return Term{value, loops};
}

Result<Term> Generic::gathered_up(MlirValue value, Op op, const Out& out) {
  if (const auto images = images_.find(value.ptr); images != images_.end()) {
    if (op != Op::min) return pooled(builder_, op, images->second, out.reduced, extents_);
    Walked mirror = images->second;
    RK_TRY(turned, mirrored(builder_, mirror.value));
    mirror.value = turned;
    RK_TRY(largest, pooled(builder_, Op::max, mirror, out.reduced, extents_));
    RK_TRY(least, mirrored(builder_, largest.value));
    return Term{least, largest.loops};
  }
  const auto maker = makers_.find(value.ptr);
  const bool is_product = maker != makers_.end() && waiting_.contains(value.ptr) &&
                          ir_.name(maker->second) == "arith.mulf" && op == Op::add;
  if (is_product) {
    const auto factors = ir_.operands(maker->second);
    for (const std::size_t first : {0u, 1u}) {
      const auto images = images_.find(factors[first].ptr);
      if (images == images_.end()) continue;
      RK_TRY(filter, term(factors[1 - first]));
      return convolved(builder_, images->second, filter, out.reduced, extents_);
    }
    RK_TRY(a, term(factors[0]));
    RK_TRY(b, term(factors[1]));
    return contracted(builder_, a, b, out.reduced, out.loops, extents_);
  }
  RK_TRY(element, term(value));
  if (op == Op::add) {
    // Loops that it does not have repeat it.
    Term one{Value::number(element.value.dtype, 1), {}};
    if (!but(out.reduced, element.loops).empty())
      return contracted(builder_, element, one, out.reduced, out.loops, extents_);
  }
  std::vector<bool> goes;
  for (const std::size_t loop : element.loops) goes.push_back(has(out.reduced, loop));
  const Loops stay = but(element.loops, out.reduced);
  if (stay.size() == element.loops.size()) return element;
  if (op == Op::min) {
    RK_TRY(turned, mirrored(builder_, element.value));
    element.value = turned;
  }
  RK_TRY(folded, builder_.reduce(op == Op::add ? Op::sum : Op::reduce_max, element.value, goes));
  if (op != Op::min) return Term{folded, stay};
  RK_TRY(least, mirrored(builder_, folded));
  return Term{least, stay};
}

Result<Value> Generic::placed(const Term& term, const Out& out) {
  RK_TRY(all, over(builder_, term, out.loops, extents_));
  const auto type = ir_.type(out.operand);
  if (all.dims == type->dims) return all;
  return builder_.reshaped(all, type->dims);
}

}  // namespace ringkernel::mlir
