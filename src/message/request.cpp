#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

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

/// The set bits of a mask of dims.
void take(const rk_command&, rk_u32 mask, IntList& axes) {
  for (std::uint32_t axis = 0; axis < 32; ++axis)
    if (((mask >> axis) & 1u) != 0) axes.push_back(axis);
}

/// One for each dim of the first input.
void take(const rk_command& command, const rk_u32 (&words)[rank_max], IntList& list) {
  for (std::size_t dim = 0; dim < std::min<std::size_t>(command.inputs[0].rank, rank_max); ++dim)
    list.push_back(words[dim]);
}

template <std::size_t count>
void take(const rk_command&, const rk_u32 (&words)[count], IntList& list) {
  for (const rk_u32 word : words) list.push_back(word);
}

void take(const rk_command&, rk_u32 word, bool& flag) { flag = word != 0; }

/// 0 as from those who did not know of the count.
void take(const rk_command&, rk_u32 word, std::int64_t& count) { count = word == 0 ? 1 : word; }

template <class Choice>
requires std::is_enum_v<Choice>
void take(const rk_command&, rk_u32 word, Choice& choice) {
  choice = static_cast<Choice>(std::min(word, 0xffu));
}

// One function for each record of attrs.def: what it says of the op's attributes.

void take_none(const rk_command&, OpAttributes&) {}

#define RK_RECORD(record) void take_##record(const rk_command& command, OpAttributes& attributes) {
#define RK_WORD(record, word, offset, field) \
  take(command, command.attrs.record.word, attributes.field);
#define RK_WORDS(record, words, count, offset, field) \
  take(command, command.attrs.record.words, attributes.field);
#define RK_RECORD_END(record, bytes) }
#include "ringkernel/protocol/attrs.def"

/// Where a slice ends follows from the stated output; without it that is 0, before any start.
IntList ends_of(const rk_command& command, const SliceRanges& slice) {
  IntList ends;
  for (std::size_t dim = 0; dim < slice.starts.count(); ++dim) {
    const std::uint64_t extent = command.output.dims[dim];
    const std::uint64_t end =
        command.attrs.slice.starts[dim] + (extent - 1) * command.attrs.slice.steps[dim] + 1;
    ends.push_back(
        extent == 0 ? 0 : static_cast<std::int64_t>(std::min<std::uint64_t>(end, INT64_MAX)));
  }
  return ends;
}

Result<OpAttributes> read_attributes(const rk_command& command) {
  OpAttributes attributes;
  switch (static_cast<Op>(command.op)) {
#define RK_OP(id, name, inputs, types, record, rule, rereads) \
  case Op::name:                                              \
    take_##record(command, attributes);                       \
    break;
#include "ringkernel/protocol/ops.def"
#undef RK_OP
    default:
      return Error(Errc::unsupported_operation, "no op has the id " + std::to_string(command.op));
  }
  attributes.slice.ends = ends_of(command, attributes.slice);
  if (attributes.pads.count() != 0) attributes.padding = Padding::custom;
  return attributes;
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
