#include <algorithm>
#include <array>
#include <limits>

#include "ops/rules.hpp"
#include "ringkernel/op.hpp"

namespace ringkernel {

namespace {

constexpr std::array table{
#define RK_OP(id, name, inputs, types, attrs, rule, rereads) \
  OpInfo{Op::name, #name, inputs, OperandTypes::types, #rule, ops::attributes_read_by(#rule) != 0},
#include "ringkernel/protocol/ops.def"
#undef RK_OP
};

constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr char lower(char c) noexcept { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

/// Whether `opcode` ("ExpandDims") is the IR spelling of the table's `name` ("expand_dims").
constexpr bool spells(std::string_view opcode, std::string_view name) noexcept {
  if (opcode.empty() || !is_upper(opcode.front())) return false;
  for (const char letter : name) {
    if (letter == '_') continue;
    if (opcode.empty() || lower(opcode.front()) != letter) return false;
    opcode.remove_prefix(1);
  }
  return opcode.empty();
}

Result<void> check_arity(const ops::OpCall& call) {
  if (call.inputs.size() == call.op.input_count) return {};
  return ops::call_error(Errc::arity_mismatch, call,
                         "takes " + std::to_string(call.op.input_count) + " operands, got " +
                             std::to_string(call.inputs.size()));
}

/// The operands that have one element type, whatever it is.
std::span<const TensorDesc> alike(const ops::OpCall& call) {
  if (call.op.types == OperandTypes::indexed) return call.inputs.first(1);
  if (call.op.types == OperandTypes::selected) return call.inputs.subspan(1);
  return call.inputs;
}

Result<void> check_dtypes(const ops::OpCall& call) {
  if (call.inputs.empty()) return {};
  const std::span<const TensorDesc> operands = alike(call);
  const DType dtype = operands[0].dtype;
  for (const TensorDesc& operand : operands)
    if (operand.dtype != dtype)
      return ops::call_error(
          Errc::dtype_mismatch, call,
          std::string("operands are ") + name(dtype) + " and " + name(operand.dtype));
  const bool takes_integers = call.op.types != OperandTypes::f32;
  if (dtype == DType::none || (dtype != DType::f32 && !takes_integers))
    return ops::call_error(Errc::invalid_dtype, call,
                           std::string("element type ") + name(dtype) + ", supported: f32" +
                               (takes_integers ? ", i32, i64" : ""));
  if (call.op.types == OperandTypes::selected && call.inputs[0].dtype != DType::i32)
    return ops::call_error(
        Errc::invalid_dtype, call,
        std::string("the condition is ") + name(call.inputs[0].dtype) + ", supported: i32");
  if (call.op.types == OperandTypes::indexed && call.inputs[1].dtype != DType::i32 &&
      call.inputs[1].dtype != DType::i64)
    return ops::call_error(
        Errc::invalid_index_dtype, call,
        std::string("the indices are ") + name(call.inputs[1].dtype) + ", supported: i32, i64");
  return {};
}

/// `Shape` may have been made from unchecked extents.
Result<void> check_extents(const ops::OpCall& call) {
  constexpr std::uint64_t count_max = std::numeric_limits<std::uint32_t>::max();
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    std::uint64_t count = 1;
    for (std::size_t dim = 0; dim < call.inputs[i].shape.rank(); ++dim) {
      const std::uint32_t extent = call.inputs[i].shape[dim];
      if (extent == 0)
        return ops::call_error(
            Errc::invalid_dimension, call,
            "operand " + std::to_string(i) + " has extent 0 at dim " + std::to_string(dim));
      count *= extent;
      if (count > count_max)
        return ops::call_error(Errc::allocation_failure, call,
                               "operand " + std::to_string(i) + " has more than " +
                                   std::to_string(count_max) + " elements");
    }
  }
  return {};
}

}  // namespace

std::span<const OpInfo> op_table() noexcept { return table; }

const OpInfo* find_op(std::uint16_t id) noexcept {
  const auto row = std::ranges::find(table, static_cast<Op>(id), &OpInfo::op);
  return row == table.end() ? nullptr : &*row;
}

const OpInfo* find_op(std::string_view name) noexcept {
  constexpr std::string_view prefix = "tensor.";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const auto row = std::ranges::find_if(
      table, [name](const OpInfo& op) { return op.name == name || spells(name, op.name); });
  return row == table.end() ? nullptr : &*row;
}

Result<Inference> infer(Op op, std::span<const TensorDesc> inputs, const OpAttributes& attributes) {
  const OpInfo* info = find_op(static_cast<std::uint16_t>(op));
  if (info == nullptr)
    return Error(Errc::unsupported_operation,
                 "no op has the id " + std::to_string(static_cast<unsigned>(op)));
  const ops::OpCall call{*info, inputs, attributes};
  RK_TRY_VOID(check_arity(call));
  RK_TRY_VOID(check_dtypes(call));
  RK_TRY_VOID(check_extents(call));
  switch (op) {
#define RK_OP(id, name, inputs, types, attrs, rule, rereads) \
  case Op::name:                                             \
    return ops::infer_##rule(call);
#include "ringkernel/protocol/ops.def"
#undef RK_OP
  }
  return Error(Errc::internal, "the op table has no rule for " + std::string(info->name));
}

namespace ops {

bool is_elementwise(Op op) noexcept {
  const OpInfo* const info = find_op(static_cast<std::uint16_t>(op));
  return info != nullptr && (info->rule == "unary" || info->rule == "binary");
}

bool is_view(Op op) noexcept {
  return op == Op::reshape || op == Op::expand_dims || op == Op::squeeze;
}

Result<void> check_desc(const TensorDesc& desc) {
  if (element_bytes(desc.dtype) == 0)
    return Error(Errc::invalid_dtype, "a tensor of element type " + std::string(name(desc.dtype)));
  std::array<std::int64_t, rank_max> dims{};
  std::ranges::copy(desc.shape.dims(), dims.begin());
  RK_TRY_VOID(Shape::make(std::span(dims).first(desc.shape.rank())));
  return {};
}

std::string list_text(const IntList& list) {
  std::string text;
  for (const std::int64_t value : list.values())
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + (list.fits() ? "]" : ", ...]");
}

Error call_error(Errc code, const OpCall& call, const std::string& what) {
  std::string detail = std::string(call.op.name) + "(";
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    detail += (i == 0 ? "" : ", ") + call.inputs[i].text();
  return Error(code, detail + "): " + what);
}

/// No operands, no output: dtype `none`.
Result<Inference> infer_none(const OpCall&) { return Inference{{DType::none, {}}, {}}; }

}  // namespace ops

}  // namespace ringkernel
