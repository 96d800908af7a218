#include "mind/call.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "ops/ir_text.hpp"

namespace ringkernel::mind {
namespace {

using Descs = std::span<const TensorDesc>;

const OpInfo& info_of(Op op) { return *find_op(static_cast<std::uint16_t>(op)); }

std::string text(Descs descs) {
  std::string list;
  for (const TensorDesc& desc : descs) list += (list.empty() ? "" : ", ") + desc.text();
  return list;
}

IntList extents(const Shape& shape) {
  IntList list;
  for (const std::uint32_t extent : shape.dims()) list.push_back(extent);
  return list;
}

/// The dims of `more` that `fewer` lacks, if these are all of extent 1. Where several choices are
/// possible they are the same op: only ones move past ones. What does not fit is left to `infer`.
IntList unit_dims_beyond(const Shape& more, const Shape& fewer) {
  IntList axes;
  std::size_t next = 0;
  for (std::size_t dim = 0; dim < more.rank(); ++dim) {
    if (next < fewer.rank() && fewer[next] == more[dim])
      ++next;
    else
      axes.push_back(static_cast<std::int64_t>(dim));
  }
  return axes;
}

/// What an op without attributes means, given its tensors.
Result<OpAttributes> guess_attributes(Op op, Descs inputs, std::span<const Tensor> outputs) {
  OpAttributes attributes;
  if (inputs.empty() || outputs.empty()) return attributes;  // the arity is wrong, or there is none
  const Shape wanted = outputs[0].desc().shape;
  switch (op) {
    case Op::reshape:
    case Op::fill: attributes.shape = extents(wanted); break;
    case Op::expand_dims: attributes.axes = unit_dims_beyond(wanted, inputs[0].shape); break;
    case Op::squeeze: attributes.axes = unit_dims_beyond(inputs[0].shape, wanted); break;
    default:
      if (!info_of(op).reads_attributes) break;
      return Error(Errc::invalid_argument,
                   std::string(info_of(op).name) +
                       " needs its attributes, as in \"Sum(%0, [1], false)\" (docs/OPS.md)");
  }
  return attributes;
}

/// The input that `%name` stands for.
Result<std::size_t> input_number(std::string_view name, std::size_t count) {
  std::size_t number = 0;
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (status == std::errc() && end == name.data() + name.size() && number < count) return number;
  return Error(Errc::invalid_argument, "%" + std::string(name) +
                                           " is none of the inputs, which are %0 to %" +
                                           std::to_string(count == 0 ? 0 : count - 1));
}

/// An op, and which of the given inputs each of its operands is.
struct Named {
  Op op = Op::noop;
  std::optional<OpAttributes> attributes;
  std::array<std::size_t, inputs_max> operands{};
  std::size_t operand_count = 0;

  /// Each input in its place.
  Result<void> take_all(std::size_t input_count) {
    if (input_count > operands.size()) {
      const OpInfo& info = info_of(op);
      return Error(Errc::arity_mismatch, std::string(info.name) + " takes " +
                                             std::to_string(info.input_count) + " operands, got " +
                                             std::to_string(input_count));
    }
    for (std::size_t i = 0; i < input_count; ++i) operands[i] = i;
    operand_count = input_count;
    return {};
  }
};

Result<Named> read_name(std::string_view text, std::size_t input_count) {
  Named named;
  if (text.find('(') == std::string_view::npos) {
    ops::IrCursor cursor(text);
    RK_TRY(op, ops::read_opcode(cursor));
    if (!cursor.at_end()) return cursor.expected("'(' or the end");
    named.op = op;
    RK_TRY_VOID(named.take_all(input_count));
    return named;
  }
  RK_TRY(operation, ops::parse_operation(text));
  named.op = operation.op;
  named.attributes = operation.attributes;
  for (const std::string_view operand :
       std::span(operation.operands).first(operation.operand_count)) {
    RK_TRY(number, input_number(operand, input_count));
    named.operands[named.operand_count++] = number;
  }
  const std::span used = std::span(named.operands).first(named.operand_count);
  for (std::size_t i = 0; i < input_count; ++i)
    if (std::ranges::find(used, i) == used.end())
      return Error(Errc::arity_mismatch,
                   "input " + std::to_string(i) + " is not named by '" + std::string(text) + "'");
  return named;
}

Result<Named> read_name(const detail::MindOpName& name, std::size_t input_count) {
  if (const auto* const words = std::get_if<std::string_view>(&name))
    return read_name(*words, input_count);
  const MindOp& op = std::get<MindOp>(name);
  if (find_op(static_cast<std::uint16_t>(op.op)) == nullptr)
    return Error(Errc::unsupported_operation,
                 "no op has the id " + std::to_string(static_cast<unsigned>(op.op)));
  Named named{.op = op.op, .attributes = op.attributes};
  RK_TRY_VOID(named.take_all(input_count));
  return named;
}

Result<void> check_output(const Request& request, const TensorDesc& result,
                          std::span<const Tensor> outputs, BackendTarget target) {
  const std::size_t expected = result.dtype == DType::none ? 0 : 1;
  if (outputs.size() != expected)
    return Error(Errc::arity_mismatch, describe(request) + " has " + std::to_string(expected) +
                                           " outputs, got " + std::to_string(outputs.size()));
  if (expected == 0) return {};
  const TensorDesc output = outputs[0].desc();
  // On a gpu a scalar lies in a tensor of four elements or more: the runtime knows that rule.
  const bool padded_scalar = target != BackendTarget::cpu && result.shape.rank() == 0;
  const bool same_shape = output.shape == result.shape || padded_scalar;
  if (output.dtype == result.dtype && same_shape) return {};
  return Error(
      output.dtype == result.dtype ? Errc::dimension_mismatch : Errc::dtype_mismatch,
      describe(request) + ": the result is " + result.text() + ", the output " + output.text());
}

Result<void> check_handles(std::span<const Tensor> tensors, const char* which) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].id() == no_tensor)
      return Error(Errc::tensor_not_found,
                   std::string(which) + " " + std::to_string(i) + " is an empty handle");
  return {};
}

}  // namespace

std::string describe(const Request& request) {
  std::array<TensorDesc, inputs_max> descs{};
  for (std::size_t i = 0; i < request.input_count; ++i) descs[i] = request.inputs[i].desc;
  return std::string(info_of(request.op).name) + "(" +
         text(std::span(descs).first(request.input_count)) + ")";
}

Result<detail::MindCall> make_call(const detail::MindOpName& name, std::span<const Tensor> inputs,
                                   std::span<const Tensor> outputs, const OpOptions& options,
                                   const Place& place) {
  Result<Named> named = read_name(name, inputs.size());
  if (!named) {
    Error error = std::move(named).error();
    if (error == Errc::unsupported_operation) error.detail += "; backend '" + place.backend + "'";
    return error;
  }
  RK_TRY_VOID(check_handles(inputs, "input"));
  RK_TRY_VOID(check_handles(outputs, "output"));
  detail::MindCall call;
  call.options = options;
  call.request.op = named->op;
  call.request.input_count = static_cast<std::uint32_t>(named->operand_count);
  std::array<TensorDesc, inputs_max> storage{};
  const Descs descs = std::span(storage).first(named->operand_count);
  for (std::size_t i = 0; i < named->operand_count; ++i) {
    call.inputs[i] = inputs[named->operands[i]];
    call.request.inputs[i] = call.inputs[i];
    storage[i] = call.request.inputs[i].desc;
  }
  if (named->operand_count != info_of(named->op).input_count)  // before attributes are guessed
    return infer(named->op, descs, {}).error();
  if (!named->attributes) {
    RK_TRY(attributes, guess_attributes(named->op, descs, outputs));
    named->attributes = attributes;
  }
  call.request.attributes = *named->attributes;
  RK_TRY(inference, infer(named->op, descs, *named->attributes));
  RK_TRY_VOID(check_output(call.request, inference.output, outputs, place.target));
  if (!outputs.empty()) {
    call.output = outputs[0];
    call.request = call.request.into(outputs[0]);
  }
  return call;
}

}  // namespace ringkernel::mind
