#include "mlir/reader.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace ringkernel::mlir {
namespace {

constexpr std::string_view known_types = "f32, i32 and i64 are read, and i1 between operations";

/// Whether a memref that the operation gives is memory of its own.
bool makes_memory(std::string_view name) {
  return name == "memref.alloc" || name == "memref.alloca" || name == "memref.get_global";
}

/// Whether an op inside of the operation takes the value.
bool takes_inside(const Ir& ir, MlirOperation operation, MlirValue value) {
  const MlirBlock block = ir.block(operation);
  if (block.is_null()) return false;
  return std::ranges::any_of(ir.operations(block), [&](MlirOperation inner) {
    const auto operands = ir.operands(inner);
    return std::ranges::find(operands, value.ptr, &MlirValue::ptr) != operands.end();
  });
}

/// Whether the first thing that the function does with a memref is to write all of it.
bool is_written_first(const Ir& ir, MlirBlock body, MlirValue memory) {
  for (const MlirOperation operation : ir.operations(body)) {
    if (takes_inside(ir, operation, memory)) return false;
    const auto operands = ir.operands(operation);
    const auto found = std::ranges::find(operands, memory.ptr, &MlirValue::ptr);
    if (found == operands.end()) continue;
    const std::string_view name = ir.name(operation);
    if (name == "memref.copy") return found != operands.begin();
    if (name == "linalg.map" || name == "linalg.softmax") return found + 1 == operands.end();
    if (name != "linalg.generic") return false;
    if (std::ranges::count(operands, memory.ptr, &MlirValue::ptr) != 1) return false;
    const auto elements = ir.arguments(ir.block(operation));
    return !ir.is_used(elements[static_cast<std::size_t>(found - operands.begin())]);
  }
  return false;
}

}  // namespace

const Value& Operation::operand(std::size_t position) const {
  return values.at(ir.operands(handle)[position].ptr);
}

ValueType Operation::type() const { return ir.type(ir.results(handle)[0]).value_or(ValueType()); }

Reader::Reader(const Module& module, const Options& options)
    : module_(module), ir_(module.ir()), options_(options) {}

Result<MlirOperation> Reader::find_function() const {
  MlirOperation found;
  std::string names;
  std::size_t count = 0;
  for (const MlirOperation operation : ir_.operations(module_.body())) {
    if (ir_.name(operation) != "func.func" || ir_.block(operation).is_null()) continue;
    const std::string name = ir_.string(operation, "sym_name").value_or("");
    if (name == options_.function) return operation;
    if (ir_.string(operation, "sym_visibility").value_or("public") != "public") continue;
    names += (names.empty() ? "'" : ", '") + name + "'";
    found = operation;
    ++count;
  }
  if (options_.function.empty() && count == 1) return found;
  if (count == 0)
    return Error(Errc::invalid_argument, "the module has no func.func with a body that is public");
  if (options_.function.empty())
    return Error(Errc::invalid_argument, "the module has several functions, name one: " + names);
  return Error(Errc::invalid_argument,
               "the module has no function '" + options_.function + "'; it has " + names);
}

Result<Graph> Reader::read(Diagnostics& told, std::string* recording) {
  RK_TRY(function, find_function());
  Graph graph(options_.name.empty() ? ir_.string(function, "sym_name").value_or("")
                                    : options_.name);
  Recording recorded(graph, recording);
  Builder builder(recorded);
  body_ = ir_.block(function);
  if (!ir_.api().mlirBlockGetNextInRegion(body_).is_null())
    return Error(Errc::invalid_argument,
                 ir_.place(function) + ": it has several blocks; branches are not read");
  RK_TRY_VOID(take_arguments(builder, function));
  const auto operations = ir_.operations(body_);
  for (const MlirOperation operation : operations) {
    if (ir_.name(operation) == "func.return") continue;
    RK_TRY_VOID(read_operation(builder, operation));
  }
  if (refused_.empty()) RK_TRY_VOID(give(builder, operations.back()));
  for (const auto& [error, diagnostic] : refused_) told.push_back(diagnostic);
  if (!refused_.empty()) return refusals();
  return graph;
}

Result<void> Reader::check_state(MlirOperation function) const {
  const std::size_t arguments = ir_.arguments(body_).size();
  const std::size_t results = ir_.operands(ir_.operations(body_).back()).size();
  std::set<std::size_t> becoming;
  for (const auto& [argument, result] : options_.state) {
    if (argument < arguments && result < results && becoming.insert(result).second) continue;
    return Error(Errc::invalid_argument,
                 "argument " + std::to_string(argument) + " becomes result " +
                     std::to_string(result) + ", but " + ir_.place(function) + " has " +
                     std::to_string(arguments) + " arguments and " + std::to_string(results) +
                     " results, and each serves one state");
  }
  return {};
}

Result<void> Reader::take_arguments(Builder& builder, MlirOperation function) {
  RK_TRY_VOID(check_state(function));
  const auto arguments = ir_.arguments(body_);
  for (std::size_t number = 0; number < arguments.size(); ++number) {
    const MlirValue argument = arguments[number];
    const std::string place = "argument " + std::to_string(number) + " of " + ir_.place(function);
    if (const auto known = check_type(argument); !known)
      return Error(known.error().code, place + ": " + known.error().detail);
    const auto type = ir_.type(argument);
    if (type->is_truth) return Error(Errc::invalid_dtype, place + ": " + std::string(known_types));
    if (type->is_memory && !ir_.api().mlirAffineMapIsIdentity(ir_.api().mlirMemRefTypeGetAffineMap(
                               ir_.api().mlirValueGetType(argument))))
      return Error(Errc::unsupported_operation, place + ": only memrefs without a layout are read");
    Value value = Value::unwritten(type->dtype, false, type->dims);
    const auto state = options_.state.find(number);
    const bool is_state = state != options_.state.end();
    if (is_state && type->is_memory)
      return Error(Errc::invalid_argument, place + ": a memref is no state");
    if (!type->is_memory || !is_written_first(ir_, body_, argument)) {
      RK_TRY(shape, Shape::make(type->dims));
      const TensorDesc desc{type->dtype, shape};
      value.made = is_state ? builder.graph().state(desc) : builder.graph().input(desc);
      if (!builder.graph().status()) return builder.graph().status().error();
      if (is_state) states_.emplace(state->second, *value.made);
    }
    values_.emplace(argument.ptr, std::move(value));
  }
  return {};
}

Result<void> Reader::check_type(MlirValue value) const {
  const auto type = ir_.type(value);
  const std::string text = ir_.text(ir_.api().mlirValueGetType(value));
  if (!type || type->dtype == DType::none)
    return Error(Errc::invalid_dtype, text + ": " + std::string(known_types));
  if (std::ranges::find(type->dims, -1) != type->dims.end())
    return Error(Errc::invalid_argument, "extents of " + text + " are open");
  const auto shape = Shape::make(type->dims);
  if (!shape) return Error(shape.error().code, text + ": " + shape.error().detail);
  return {};
}

Result<void> Reader::read_operation(Builder& builder, MlirOperation operation) {
  const auto operands = ir_.operands(operation);
  // What is not read has been told already; what depends on it is not.
  if (std::ranges::any_of(operands, [&](MlirValue one) { return !values_.contains(one.ptr); }))
    return {};
  const Rule rule = find_rule(ir_.name(operation));
  if (rule == nullptr) {
    refuse(operation, Error(Errc::unsupported_operation, "it is not read"));
    return {};
  }
  auto results = ir_.results(operation);
  for (const MlirValue result : results) {
    Result<void> known = check_type(result);
    if (known && ir_.type(result)->is_memory && !makes_memory(ir_.name(operation)))
      known = Error(Errc::unsupported_operation, "another name for memory is not read");
    if (known) continue;
    refuse(operation, known.error());
    return {};
  }
  Result<Results> made = rule({ir_, builder, operation, values_, module_.body()});
  if (!made) {
    if (!builder.graph().status() || made.error() == Errc::allocation_failure)
      return Error(made.error().code, ir_.place(operation) + ": " + made.error().detail);
    refuse(operation, made.error());
    return {};
  }
  if (results.empty()) {  // memrefs that it has written
    results.assign(operands.end() - static_cast<std::ptrdiff_t>(made->size()), operands.end());
    const auto arguments = ir_.arguments(body_);
    for (const MlirValue memory : results) {
      const auto is_it = [&](MlirValue one) { return one.ptr == memory.ptr; };
      if (std::ranges::any_of(arguments, is_it) && std::ranges::none_of(written_, is_it))
        written_.push_back(memory);
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    values_.insert_or_assign(results[i].ptr, std::move((*made)[i]));
  return {};
}

Result<void> Reader::give(Builder& builder, MlirOperation last) {
  std::vector<MlirValue> given = ir_.operands(last);
  const std::size_t results = given.size();
  for (const MlirValue argument : ir_.arguments(body_))
    if (std::ranges::find(written_, argument.ptr, &MlirValue::ptr) != written_.end())
      given.push_back(argument);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Value& value = values_.at(given[i].ptr);
    const auto type = ir_.type(given[i]);
    if (value.is_truth || (type->is_memory && i < results))
      return Error(Errc::invalid_dtype,
                   ir_.place(last) + ": a result " +
                       ir_.text(ir_.api().mlirValueGetType(given[i])) + ": " +
                       (value.is_truth ? std::string(known_types) : "no memref is given back"));
    const Result<Graph::Value> whole = builder.whole(value);
    if (!whole) return Error(whole.error().code, ir_.place(last) + ": " + whole.error().detail);
    const Graph::Value made = *whole;
    if (const auto state = states_.find(i); state != states_.end())
      builder.graph().update(state->second, made);
    else
      builder.graph().output(made);
    if (!builder.graph().status()) return builder.graph().status().error();
  }
  return {};
}

void Reader::refuse(MlirOperation operation, const Error& why) {
  refused_.emplace_back(why, Diagnostic{Severity::error,
                                        "'" + std::string(ir_.name(operation)) + "': " + why.detail,
                                        ir_.position(operation),
                                        {}});
}

Error Reader::refusals() const {
  std::string text;
  for (const auto& [error, diagnostic] : refused_)
    text += (text.empty() ? "" : "; ") + diagnostic.text();
  return {refused_[0].first.code, text};
}

}  // namespace ringkernel::mlir
