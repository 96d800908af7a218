#include "mlir/scalars.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace ringkernel::mlir {
namespace {

/// An op with its operands, and what its result is to be.
struct Scalar {
  const Ir& ir;
  Builder& builder;
  MlirOperation operation;
  const std::vector<Value>& in;
  ValueType result;
};

Error refused(const std::string& why) { return {Errc::unsupported_operation, why}; }

/// A number beside operands of that rank.
Value beside(const Value& value, double number) {
  return Value::number(value.dtype, number, Integers(value.rank(), 1));
}

Result<Value> one(const Scalar& scalar, Op op) { return scalar.builder.unary(op, scalar.in[0]); }

Result<Value> two(const Scalar& scalar, Op op) {
  // An i1 is a number of one bit, with a sign.
  if (scalar.in[0].is_truth && op != Op::mul) return refused("arithmetic of i1 is not read");
  return scalar.builder.binary(op, scalar.in[0], scalar.in[1]);
}

/// Not the one that is no number.
Result<Value> of_numbers(const Scalar& scalar, Op op) {
  Builder& builder = scalar.builder;
  const Value& a = scalar.in[0];
  const Value& b = scalar.in[1];
  RK_TRY(both, builder.binary(op, a, b));
  RK_TRY(a_is_none, builder.compare(Comparison::not_equal, a, a));
  RK_TRY(b_is_none, builder.compare(Comparison::not_equal, b, b));
  RK_TRY(without_b, builder.select(b_is_none, a, both));
  return builder.select(a_is_none, b, without_b);
}

Result<Value> of_truths(const Scalar& scalar, Op op) {
  if (!scalar.in[0].is_truth) return refused("bits of numbers are not read, those of i1 are");
  return scalar.builder.binary(op, scalar.in[0], scalar.in[1]);
}

Result<Value> differ(const Scalar& scalar, Op) {
  if (!scalar.in[0].is_truth) return refused("bits of numbers are not read, those of i1 are");
  return scalar.builder.compare(Comparison::not_equal, scalar.in[0], scalar.in[1]);
}

Result<Value> opposite(Builder& builder, const Value& truth) {
  return builder.compare(Comparison::equal, truth, beside(truth, 0));
}

Result<Value> cmpf(const Scalar& scalar, Op) {
  Builder& builder = scalar.builder;
  const Value& a = scalar.in[0];
  const Value& b = scalar.in[1];
  const std::int64_t predicate = scalar.ir.integer(scalar.operation, "predicate").value_or(-1);
  switch (predicate) {
    case 1: return builder.compare(Comparison::equal, a, b);
    case 2: return builder.compare(Comparison::less, b, a);
    case 3: return builder.compare(Comparison::less_equal, b, a);
    case 4: return builder.compare(Comparison::less, a, b);
    case 5: return builder.compare(Comparison::less_equal, a, b);
    case 13: return builder.compare(Comparison::not_equal, a, b);
    default: break;
  }
  // The others are what is left over of these, where one is no number.
  if (predicate == 6 || predicate == 8) {
    RK_TRY(is_less, builder.compare(Comparison::less, a, b));
    RK_TRY(is_more, builder.compare(Comparison::less, b, a));
    RK_TRY(differs, builder.binary(Op::max, is_less, is_more));
    if (predicate == 6) return differs;
    return opposite(builder, differs);
  }
  if (predicate == 7 || predicate == 14) {
    RK_TRY(a_is, builder.compare(Comparison::equal, a, a));
    RK_TRY(b_is, builder.compare(Comparison::equal, b, b));
    RK_TRY(both, builder.binary(Op::min, a_is, b_is));
    if (predicate == 7) return both;
    return opposite(builder, both);
  }
  const auto unless = [&](Comparison comparison, const Value& x, const Value& y) -> Result<Value> {
    RK_TRY(holds, builder.compare(comparison, x, y));
    return opposite(builder, holds);
  };
  switch (predicate) {
    case 9: return unless(Comparison::less_equal, a, b);
    case 10: return unless(Comparison::less, a, b);
    case 11: return unless(Comparison::less_equal, b, a);
    case 12: return unless(Comparison::less, b, a);
    default: return refused("the predicate is a constant");
  }
}

Result<Value> cmpi(const Scalar& scalar, Op) {
  Builder& builder = scalar.builder;
  const Value& a = scalar.in[0];
  const Value& b = scalar.in[1];
  const std::int64_t predicate = scalar.ir.integer(scalar.operation, "predicate").value_or(-1);
  if (a.is_truth && predicate > 1) return refused("arithmetic of i1 is not read");
  switch (predicate) {
    case 0: return builder.compare(Comparison::equal, a, b);
    case 1: return builder.compare(Comparison::not_equal, a, b);
    case 2: return builder.compare(Comparison::less, a, b);
    case 3: return builder.compare(Comparison::less_equal, a, b);
    case 4: return builder.compare(Comparison::less, b, a);
    case 5: return builder.compare(Comparison::less_equal, b, a);
    default: return refused("numbers without sign are not compared");
  }
}

/// Predicates of arith.cmpf by their numbers.
enum Predicate : std::int64_t { ogt = 2, oge, olt, ole, ugt = 9, uge, ult, ule };

/// The predicate that says the same with its operands swapped; 0: none of these.
std::int64_t swapped(std::int64_t predicate) {
  switch (predicate) {
    case ogt: return olt;
    case oge: return ole;
    case olt: return ogt;
    case ole: return oge;
    case ugt: return ult;
    case uge: return ule;
    case ult: return ugt;
    case ule: return uge;
    default: return 0;
  }
}

/// p(a, b) ? a : b as one op, where b is a number that the text gives. Nothing: there is none that
/// gives the same bits, for zeros and for what is no number.
std::optional<Result<Value>> clamped(Builder& builder, std::int64_t predicate, const Value& a,
                                     const Value& b) {
  const std::optional<double> number = b.splat();
  if (!number || std::isnan(*number) || a.dtype != DType::f32) return std::nullopt;
  switch (predicate) {  // max and min give their second operand where both are equal
    case ugt: return builder.binary(Op::max, a, b);
    case uge: return builder.binary(Op::max, b, a);
    case ult: return builder.binary(Op::min, a, b);
    case ule: return builder.binary(Op::min, b, a);
    case ogt:
      if (*number == 0 && !std::signbit(*number)) return builder.unary(Op::relu, a);
      return std::nullopt;
    default: return std::nullopt;
  }
}

Result<Value> choice(const Scalar& scalar, Op) {
  const Ir& ir = scalar.ir;
  const auto choices = ir.operands(scalar.operation);
  const MlirOperation maker = ir.maker(choices[0]);
  if (!maker.is_null() && ir.name(maker) == "arith.cmpf") {
    const auto compared = ir.operands(maker);
    const std::int64_t predicate = ir.integer(maker, "predicate").value_or(-1);
    const auto are = [&](std::size_t first, std::size_t second) {
      return compared[first].ptr == choices[1].ptr && compared[second].ptr == choices[2].ptr;
    };
    const std::int64_t own = are(0, 1) ? predicate : are(1, 0) ? swapped(predicate) : 0;
    if (auto result = clamped(scalar.builder, own, scalar.in[1], scalar.in[2]))
      return *std::move(result);
  }
  return scalar.builder.select(scalar.in[0], scalar.in[1], scalar.in[2]);
}

/// With its sign: i1 is 0 or -1.
Result<Value> converted(const Scalar& scalar, Op) {
  Builder& builder = scalar.builder;
  if (scalar.result.is_truth) return refused("a single bit of a number is not read");
  RK_TRY(same, builder.cast(scalar.in[0], scalar.result.dtype));
  if (!scalar.in[0].is_truth) return same;
  return builder.binary(Op::sub, beside(same, 0), same);
}

Result<Value> of_a_truth(const Scalar& scalar, Op) {
  if (!scalar.in[0].is_truth) return refused("numbers without sign are not converted, i1 is");
  return scalar.builder.cast(scalar.in[0], scalar.result.dtype);
}

Result<Value> shortened(const Scalar& scalar, Op) {
  if (scalar.result.is_truth) return refused("a single bit of a number is not read");
  return scalar.builder.cast(scalar.in[0], scalar.result.dtype);
}

/// 1 / op(x).
Result<Value> inverse(const Scalar& scalar, Op op) {
  RK_TRY(below, scalar.builder.unary(op, scalar.in[0]));
  return scalar.builder.binary(Op::div, beside(below, 1), below);
}

/// max(x, 0 - x): 0 for both zeros.
Result<Value> magnitude(const Scalar& scalar, Op op) {
  const Value& x = scalar.in[0];
  RK_TRY(negative, scalar.builder.binary(Op::sub, beside(x, 0), x));
  return scalar.builder.binary(op, x, negative);
}

Result<Value> fma(const Scalar& scalar, Op op) {
  RK_TRY(product, scalar.builder.binary(Op::mul, scalar.in[0], scalar.in[1]));
  return scalar.builder.binary(op, product, scalar.in[2]);
}

/// Of a power that the text gives: products, and a root for the half.
Result<Value> power(const Scalar& scalar, Op op) {
  constexpr std::array known{1.0, 2.0, 3.0, 4.0, 0.5};
  Builder& builder = scalar.builder;
  const std::optional<double> exponent = scalar.in[1].splat();
  const double size = std::abs(exponent.value_or(0));
  if (std::ranges::find(known, size) == known.end())
    return refused("a power that is not 1, 2, 3, 4 or 0.5, or its negative");
  Value result = scalar.in[0];
  if (size == 0.5) {
    RK_TRY(root, builder.unary(Op::sqrt, result));
    result = root;
  }
  for (int n = 1; n < static_cast<int>(size); ++n) {
    RK_TRY(higher, builder.binary(op, result, scalar.in[0]));
    result = higher;
  }
  if (*exponent > 0) return result;
  return builder.binary(Op::div, beside(result, 1), result);
}

struct ScalarRow {
  std::string_view name;
  Result<Value> (*rule)(const Scalar& scalar, Op op);
  Op op;
};
constexpr ScalarRow scalar_rows[] = {
#define RK_MLIR_SCALAR(name, rule, op) {name, rule, Op::op},
#include "mlir/scalars.def"
#undef RK_MLIR_SCALAR
};

const ScalarRow* find_scalar(std::string_view name) {
  const auto* const found = std::ranges::find(scalar_rows, name, &ScalarRow::name);
  return found == std::end(scalar_rows) ? nullptr : found;
}

}  // namespace

bool is_scalar_op(std::string_view name) { return find_scalar(name) != nullptr; }

Result<Value> apply_scalar_op(const Ir& ir, Builder& builder, MlirOperation operation,
                              const std::vector<Value>& operands) {
  const ScalarRow* const row = find_scalar(ir.name(operation));
  const auto type = ir.type(ir.results(operation)[0]);
  if (row == nullptr || !type) return refused("it is not read");
  if (type->dtype == DType::none)
    return Error(Errc::invalid_dtype, "f32, i32, i64 and i1 are read");
  RK_TRY(result, row->rule({ir, builder, operation, operands, *type}, row->op));
  result.is_truth = type->is_truth;
  return result;
}

}  // namespace ringkernel::mlir
