#include <bit>
#include <cstring>
#include <string>

#include "message/codec.hpp"
#include "message/inspect.hpp"

namespace ringkernel {
namespace {

using codec::message_bytes_max;

std::string input_name(std::size_t index) { return "input " + std::to_string(index); }

Result<void> check_zero(std::uint64_t value, const std::string& field) {
  if (value == 0) return {};
  return Error(Errc::unknown_field, field + " is reserved and not zero");
}

/// A client leaves what it does not mean zero.
bool is_stated(const rk_operand& operand) {
  return operand.dtype != RK_DTYPE_NONE || operand.rank != 0;
}

/// Element type and shape as a foreign command states them.
Result<TensorDesc> read_desc(const rk_operand& operand, const std::string& name) {
  if (operand.place > RK_PLACE_MESSAGE)
    return Error(Errc::unsupported, name + " has place " + std::to_string(operand.place) +
                                        ", only operands in the message are accepted");
  RK_TRY_VOID(check_zero(operand.binding, "the reserved byte of " + name));
  if (operand.dtype == RK_DTYPE_NONE || operand.dtype > RK_DTYPE_I64)
    return Error(Errc::invalid_dtype, name + " has element type " + std::to_string(operand.dtype));
  if (operand.rank > rank_max)
    return Error(Errc::rank_mismatch, name + " has rank " + std::to_string(operand.rank) +
                                          ", the limit is " + std::to_string(rank_max));
  std::array<std::int64_t, rank_max> dims{};
  for (std::size_t dim = 0; dim < rank_max; ++dim) {
    dims[dim] = operand.dims[dim];
    if (dim >= operand.rank && operand.dims[dim] > 1)
      return Error(Errc::rank_mismatch, name + " has rank " + std::to_string(operand.rank) +
                                            " but extent " + std::to_string(operand.dims[dim]) +
                                            " at dim " + std::to_string(dim));
  }
  auto shape = Shape::make(std::span(dims).first(operand.rank));
  if (!shape) return Error(shape.error().code, name + ": " + shape.error().detail);
  if (operand.element_count != 0 && operand.element_count != shape->element_count())
    return Error(Errc::element_count_mismatch,
                 name + " has shape " + shape->text() + " but states " +
                     std::to_string(operand.element_count) + " elements");
  return TensorDesc{static_cast<DType>(operand.dtype), *shape};
}

Result<TensorView> read_operand(const rk_operand& operand, const schema::Data& data,
                                std::size_t index) {
  const std::string name = input_name(index);
  RK_TRY(desc, read_desc(operand, name));
  const std::size_t bytes = data.bytes() == nullptr ? 0 : data.bytes()->size();
  if (bytes != desc.bytes())
    return Error(Errc::element_count_mismatch, name + " is " + desc.text() + ", " +
                                                   std::to_string(desc.bytes()) +
                                                   " bytes, but carries " + std::to_string(bytes));
  return TensorView(desc, data.bytes()->data());
}

Result<void> read_operands(const schema::Request& message, const rk_command& command,
                           Request& request) {
  const std::size_t count = message.operands() == nullptr ? 0 : message.operands()->size();
  if (command.input_count != count || count > inputs_max)
    return Error(Errc::arity_mismatch, "the command has " + std::to_string(command.input_count) +
                                           " inputs, the message carries " + std::to_string(count) +
                                           " operands, the limit is " + std::to_string(inputs_max));
  request.input_count = command.input_count;
  for (std::uint32_t i = 0; i < inputs_max; ++i) {
    if (i < count) {
      RK_TRY(view, read_operand(command.inputs[i], *message.operands()->Get(i), i));
      request.inputs[i] = view;
    } else if (is_stated(command.inputs[i])) {
      return Error(Errc::arity_mismatch, "the command has " + std::to_string(count) +
                                             " inputs but describes " + input_name(i));
    }
  }
  return {};
}

IntList axes_of(rk_u32 mask) {
  std::array<std::int64_t, 32> axes{};
  std::size_t count = 0;
  for (std::uint32_t axis = 0; axis < axes.size(); ++axis)
    if (((mask >> axis) & 1u) != 0) axes[count++] = axis;
  return IntList(std::span<const std::int64_t>(axes).first(count));
}

/// `entry(dim)` for each dim of the first input.
IntList for_each_dim(const rk_command& command, auto entry) {
  std::array<std::int64_t, rank_max> list{};
  const std::size_t rank = std::min<std::size_t>(command.inputs[0].rank, rank_max);
  for (std::size_t dim = 0; dim < rank; ++dim) list[dim] = entry(dim);
  return IntList(std::span<const std::int64_t>(list).first(rank));
}

// One function per attribute record of ops.def: the op's attributes from the command's.

OpAttributes attributes_none(const rk_command&) { return {}; }

OpAttributes attributes_reduce(const rk_command& command) {
  OpAttributes attributes;
  attributes.axes = axes_of(command.attrs.reduce.axis_mask);
  attributes.keepdims = command.attrs.reduce.keepdims != 0;
  return attributes;
}

OpAttributes attributes_axes(const rk_command& command) {
  OpAttributes attributes;
  attributes.axes = axes_of(command.attrs.axes.axis_mask);
  return attributes;
}

OpAttributes attributes_transpose(const rk_command& command) {
  OpAttributes attributes;
  attributes.permutation = for_each_dim(
      command, [&](std::size_t dim) { return command.attrs.transpose.permutation[dim]; });
  return attributes;
}

OpAttributes attributes_index(const rk_command& command) {
  OpAttributes attributes;
  attributes.indices =
      for_each_dim(command, [&](std::size_t dim) { return command.attrs.index.indices[dim]; });
  return attributes;
}

/// The ends follow from the stated output; without it they are 0, before any start.
OpAttributes attributes_slice(const rk_command& command) {
  const rk_attrs_slice& attrs = command.attrs.slice;
  OpAttributes attributes;
  attributes.slice.starts =
      for_each_dim(command, [&](std::size_t dim) { return attrs.starts[dim]; });
  attributes.slice.steps = for_each_dim(command, [&](std::size_t dim) { return attrs.steps[dim]; });
  attributes.slice.ends = for_each_dim(command, [&](std::size_t dim) {
    const std::uint64_t extent = command.output.dims[dim];
    if (extent == 0) return std::int64_t{0};
    const std::uint64_t end = attrs.starts[dim] + (extent - 1) * attrs.steps[dim] + 1;
    return static_cast<std::int64_t>(std::min<std::uint64_t>(end, INT64_MAX));
  });
  return attributes;
}

OpAttributes attributes_conv2d(const rk_command& command) {
  const rk_attrs_conv2d& conv2d = command.attrs.conv2d;
  OpAttributes attributes;
  attributes.strides = {conv2d.strides[0], conv2d.strides[1]};
  attributes.padding = Padding::custom;
  attributes.pads = {conv2d.pads[0], conv2d.pads[1], conv2d.pads[2], conv2d.pads[3]};
  attributes.groups = conv2d.groups == 0 ? 1 : conv2d.groups;  // as before there were groups
  return attributes;
}

OpAttributes attributes_pool(const rk_command& command) {
  const rk_attrs_pool& pool = command.attrs.pool;
  OpAttributes attributes;
  attributes.window = {pool.window[0], pool.window[1]};
  attributes.strides = {pool.strides[0], pool.strides[1]};
  attributes.padding = Padding::custom;
  attributes.pads = {pool.pads[0], pool.pads[1], pool.pads[2], pool.pads[3]};
  return attributes;
}

OpAttributes attributes_compare(const rk_command& command) {
  OpAttributes attributes;
  attributes.comparison =
      static_cast<Comparison>(std::min(command.attrs.compare.comparison, 0xffu));
  return attributes;
}

OpAttributes attributes_cast(const rk_command& command) {
  OpAttributes attributes;
  attributes.dtype = static_cast<DType>(std::min(command.attrs.cast.dtype, 0xffu));
  return attributes;
}

Result<OpAttributes> read_attributes(const rk_command& command) {
  switch (static_cast<Op>(command.op)) {
#define RK_OP(id, name, inputs, types, record, rule, rereads) \
  case Op::name:                                              \
    return attributes_##record(command);
#include "ringkernel/protocol/ops.def"
#undef RK_OP
  }
  return Error(Errc::unsupported_operation, "no op has the id " + std::to_string(command.op));
}

/// Refuses what the client states about the result and that the op does not make of its inputs.
Result<void> check_stated(const rk_command& command, const TensorDesc& stated,
                          const Inference& inference) {
  if (is_stated(command.output) && stated != inference.output)
    return Error(Errc::dimension_mismatch, "the command states the output " + stated.text() +
                                               ", the op gives " + inference.output.text());
  for (std::size_t i = 0; i < std::size(command.attrs.words); ++i)
    if (command.attrs.words[i] != 0 && command.attrs.words[i] != inference.attrs.words[i])
      return Error(Errc::unknown_field, "word " + std::to_string(i) + " of the attributes is " +
                                            std::to_string(command.attrs.words[i]) +
                                            ", the op reads " +
                                            std::to_string(inference.attrs.words[i]));
  return {};
}

}  // namespace

Result<Request> Request::from_bytes(std::span<const std::byte> bytes) {
  const flatbuffers::TypeTable& type = *schema::RequestTypeTable();
  RK_TRY(message, codec::verified_root<schema::Request>(bytes, type));
  RK_TRY_VOID(codec::check_fields(bytes, type));
  const auto command = std::bit_cast<rk_command>(*message->command());
  RK_TRY_VOID(check_zero(command.flags, "the command's flags"));
  RK_TRY_VOID(check_zero(command.reserved, "the command's reserved word"));

  Request request;
  request.op = static_cast<Op>(command.op);
  RK_TRY(attributes, read_attributes(command));
  request.attributes = attributes;
  RK_TRY_VOID(read_operands(*message, command, request));
  TensorDesc output{DType::none, {}};
  if (is_stated(command.output)) {
    RK_TRY(stated, read_desc(command.output, "output"));
    output = stated;
    std::array<std::int64_t, rank_max> dims{};
    for (std::size_t dim = 0; dim < stated.shape.rank(); ++dim) dims[dim] = stated.shape[dim];
    request.attributes.shape =
        IntList(std::span<const std::int64_t>(dims).first(stated.shape.rank()));
  }
  RK_TRY(checked, codec::check(request));
  RK_TRY_VOID(check_stated(command, output, checked));
  return request;
}

}  // namespace ringkernel
