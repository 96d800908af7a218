#include "mind/call.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

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
Result<OpAttributes> guess_attributes(Op op, Descs inputs, Descs outputs) {
  OpAttributes attributes;
  if (inputs.empty() || outputs.empty()) return attributes;  // the arity is wrong, or there is none
  switch (op) {
    case Op::reshape:
    case Op::fill: attributes.shape = extents(outputs[0].shape); break;
    case Op::expand_dims:
      attributes.axes = unit_dims_beyond(outputs[0].shape, inputs[0].shape);
      break;
    case Op::squeeze: attributes.axes = unit_dims_beyond(inputs[0].shape, outputs[0].shape); break;
    case Op::sum:
    case Op::mean:
    case Op::transpose:
    case Op::index:
    case Op::slice:
    case Op::conv2d:
      return Error(Errc::invalid_argument,
                   std::string(info_of(op).name) +
                       " needs its attributes, as in \"Sum(%0, [1], false)\" (docs/OPS.md)");
    default: break;
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
  std::vector<std::size_t> operands;
};

Result<Named> read_name(std::string_view text, std::size_t input_count) {
  Named named;
  if (text.find('(') == std::string_view::npos) {
    ops::IrCursor cursor(text);
    RK_TRY(op, ops::read_opcode(cursor));
    if (!cursor.at_end()) return cursor.expected("'(' or the end");
    named.op = op;
    for (std::size_t i = 0; i < input_count; ++i) named.operands.push_back(i);
    return named;
  }
  RK_TRY(operation, ops::parse_operation(text));
  named.op = operation.op;
  named.attributes = operation.attributes;
  for (const std::string_view operand :
       std::span(operation.operands).first(operation.operand_count)) {
    RK_TRY(number, input_number(operand, input_count));
    named.operands.push_back(number);
  }
  for (std::size_t i = 0; i < input_count; ++i)
    if (std::ranges::find(named.operands, i) == named.operands.end())
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
  Named named{.op = op.op, .attributes = op.attributes, .operands = {}};
  for (std::size_t i = 0; i < input_count; ++i) named.operands.push_back(i);
  return named;
}

Result<void> check_output(const std::string& call, const TensorDesc& result, Descs outputs,
                          BackendTarget target) {
  const std::size_t expected = result.dtype == DType::none ? 0 : 1;
  if (outputs.size() != expected)
    return Error(Errc::arity_mismatch, call + " has " + std::to_string(expected) +
                                           " outputs, got " + std::to_string(outputs.size()));
  if (expected == 0) return {};
  const std::string what =
      call + ": the result is " + result.text() + ", the output " + outputs[0].text();
  if (outputs[0].dtype != result.dtype) return Error(Errc::dtype_mismatch, what);
  // On a gpu a scalar lies in a tensor of four elements or more: the runtime knows that rule.
  const bool padded_scalar = target == BackendTarget::gpu && result.shape.rank() == 0;
  if (outputs[0].shape != result.shape && !padded_scalar)
    return Error(Errc::dimension_mismatch, what);
  return {};
}

Result<void> check_handles(std::span<const Tensor> tensors, const char* which) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].id() == no_tensor)
      return Error(Errc::tensor_not_found,
                   std::string(which) + " " + std::to_string(i) + " is an empty handle");
  return {};
}

std::vector<TensorDesc> descs_of(std::span<const Tensor> tensors) {
  std::vector<TensorDesc> descs;
  for (const Tensor& tensor : tensors) descs.push_back(tensor.desc());
  return descs;
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
  std::vector<Tensor> operands;
  for (const std::size_t number : named->operands) operands.push_back(inputs[number]);
  const std::vector<TensorDesc> operand_descs = descs_of(operands);
  const std::vector<TensorDesc> output_descs = descs_of(outputs);
  if (operands.size() != info_of(named->op).input_count)  // before the attributes are guessed
    return infer(named->op, operand_descs, {}).error();
  if (!named->attributes) {
    RK_TRY(attributes, guess_attributes(named->op, operand_descs, output_descs));
    named->attributes = attributes;
  }
  RK_TRY(inference, infer(named->op, operand_descs, *named->attributes));
  detail::MindCall call;
  call.options = options;
  call.request.op = named->op;
  call.request.attributes = *named->attributes;
  call.request.input_count = static_cast<std::uint32_t>(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    call.request.inputs[i] = operands[i];
    call.inputs[i] = operands[i];
  }
  RK_TRY_VOID(check_output(describe(call.request), inference.output, output_descs, place.target));
  if (!outputs.empty()) {
    call.output = outputs[0];
    call.request = call.request.into(outputs[0]);
  }
  return call;
}

}  // namespace ringkernel::mind
