#include "capi/requests.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "message/codec.hpp"
#include "ops/ir_text.hpp"

namespace ringkernel::capi {
namespace {

static_assert(RINGKERNEL_NONE == static_cast<int>(DType::none) &&
              RINGKERNEL_F32 == static_cast<int>(DType::f32) &&
              RINGKERNEL_I32 == static_cast<int>(DType::i32) &&
              RINGKERNEL_I64 == static_cast<int>(DType::i64));
static_assert(RINGKERNEL_RANK_MAX == rank_max);

/// Where the elements of an operand are that nobody reads.
constexpr std::byte unread{};

/// The operand with that number for the op.
void set_operand(Asked& asked, std::size_t operand, const TensorView& view, std::size_t number) {
  asked.request.inputs[operand] = view;
  asked.numbers[operand] = static_cast<std::uint8_t>(number);
}

/// "Sum(%0, [1], false)": the operands are of the inputs, each of which is one.
Result<void> read_operation(const ringkernel_request& raw, std::span<const TensorView> inputs,
                            Asked& asked) {
  if (raw.attributes != nullptr)
    return Error(Errc::invalid_argument, "the attributes are given twice, with the op and alone");
  RK_TRY(operation, ops::parse_operation(raw.op));
  asked.request.op = operation.op;
  asked.request.input_count = operation.operand_count;
  asked.request.attributes = operation.attributes;
  std::uint32_t named = 0;
  for (std::size_t i = 0; i < operation.operand_count; ++i) {
    const std::string_view name = operation.operands[i];
    std::size_t number = 0;
    const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (status != std::errc() || end != name.data() + name.size() || number >= inputs.size())
      return Error(Errc::invalid_argument, "%" + ops::excerpt(name) + " is none of the " +
                                               std::to_string(inputs.size()) +
                                               " inputs, which begin with %0");
    set_operand(asked, i, inputs[number], number);
    named |= 1u << number;
  }
  if (named + 1 != 1u << inputs.size())
    return Error(Errc::arity_mismatch, "an input is not named by '" + ops::excerpt(raw.op) + "'");
  return {};
}

/// The op with its attributes, in either form.
Result<void> read_op(const ringkernel_request& raw, std::span<const TensorView> inputs,
                     Asked& asked) {
  if (std::string_view(raw.op).find('(') != std::string_view::npos)
    return read_operation(raw, inputs, asked);
  ops::IrCursor name(raw.op);
  RK_TRY(op, ops::read_opcode(name));
  if (!name.at_end()) return name.expected("'(' or the end");
  asked.request.op = op;
  asked.request.input_count = static_cast<std::uint32_t>(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) set_operand(asked, i, inputs[i], i);
  const std::string_view text = raw.attributes == nullptr ? "" : raw.attributes;
  // The number of operands comes first: attributes are those of an op that has its operands.
  const OpInfo& info = *find_op(static_cast<std::uint16_t>(op));
  if (info.input_count != inputs.size() || (text.empty() && !info.reads_attributes)) return {};
  RK_TRY(attributes, ops::parse_attributes(text, op));
  asked.request.attributes = attributes;
  return {};
}

Result<TensorView> read_input(const ringkernel_request& raw, std::size_t number, Contents contents,
                              std::shared_ptr<ResidentObject>& resident) {
  if (raw.residents != nullptr && raw.residents[number] != nullptr) {
    RK_TRY(found, Residents::table().find(raw.residents[number], "a resident tensor"));
    resident = found;
    return TensorView(resident->tensor);
  }
  if (raw.inputs == nullptr) return null_argument("request->inputs");
  const Place place{"request->inputs", number};
  if (contents == Contents::here) return read_tensor(raw.inputs[number], place);
  RK_TRY(desc, to_desc(raw.inputs[number], place));
  return TensorView(desc, &unread);
}

}  // namespace

std::string Place::text() const {
  return number == alone ? name : std::string(name) + "[" + std::to_string(number) + "]";
}

Result<TensorDesc> to_desc(const ringkernel_tensor& tensor, const Place& place) {
  if (tensor.dtype < RINGKERNEL_F32 || tensor.dtype > RINGKERNEL_I64)
    return Error(Errc::invalid_argument,
                 place.text() + " has no element type: " + std::to_string(tensor.dtype));
  if (tensor.rank > rank_max)
    return Error(Errc::rank_mismatch, place.text() + " has rank " + std::to_string(tensor.rank) +
                                          ", the limit is " + std::to_string(rank_max));
  RK_TRY(shape, Shape::make(std::span(tensor.dims, tensor.rank)));
  return TensorDesc{static_cast<DType>(tensor.dtype), shape};
}

Result<TensorView> read_tensor(const ringkernel_tensor& tensor, const Place& place) {
  RK_TRY(desc, to_desc(tensor, place));
  if (tensor.data == nullptr) return null_argument((place.text() + ".data").c_str());
  if (tensor.data_bytes != desc.bytes())
    return Error(Errc::element_count_mismatch, place.text() + " is " + desc.text() + ", which is " +
                                                   std::to_string(desc.bytes()) + " bytes, not " +
                                                   std::to_string(tensor.data_bytes));
  return TensorView(desc, tensor.data);
}

Result<Elements> read_elements(const ringkernel_tensor& tensor, const Place& place) {
  if (tensor.dtype < RINGKERNEL_F32 || tensor.dtype > RINGKERNEL_I64)
    return Error(Errc::invalid_argument,
                 place.text() + " has no element type: " + std::to_string(tensor.dtype));
  if (tensor.data == nullptr) return null_argument((place.text() + ".data").c_str());
  Elements elements;
  elements.data = tensor.data;
  elements.dtype = static_cast<DType>(tensor.dtype);
  elements.count = tensor.data_bytes / element_bytes(elements.dtype);
  if (elements.count * element_bytes(elements.dtype) != tensor.data_bytes)
    return Error(Errc::element_count_mismatch,
                 place.text() + " has " + std::to_string(tensor.data_bytes) +
                     " bytes, no whole number of elements of " + name(elements.dtype));
  return elements;
}

Result<void> read_request(const ringkernel_request* given, Asked& asked, Contents contents) {
  if (given == nullptr) return null_argument("request");
  RK_TRY(raw, read_options(given));
  if (raw.op == nullptr) return null_argument("request->op");
  if (raw.inputs == nullptr && raw.residents == nullptr && raw.input_count != 0)
    return null_argument("request->inputs");
  if (raw.input_count > inputs_max)
    return Error(Errc::arity_mismatch, std::to_string(raw.input_count) + " inputs, no op has more" +
                                           " than " + std::to_string(inputs_max));
  asked.input_count = raw.input_count;
  std::array<TensorView, inputs_max> inputs{};
  for (std::size_t i = 0; i < raw.input_count; ++i) {
    RK_TRY(input, read_input(raw, i, contents, asked.residents[i]));
    inputs[i] = input;
  }
  RK_TRY_VOID(read_op(raw, std::span(inputs).first(raw.input_count), asked));
  if (raw.into != nullptr) {
    RK_TRY(into, Residents::table().find(raw.into, "request->into"));
    asked.residents.back() = into;
    asked.request.output = into->tensor.id();
  }
  // The thread remembers it: the same is asked for when the message is made.
  RK_TRY(plan, codec::plan(asked.request));
  asked.reply = codec::reply_of(plan);
  return {};
}

Result<void> check_room(ringkernel_tensor& result, const TensorDesc& desc) {
  const std::uint64_t bytes = desc.bytes();
  if (result.data_bytes >= bytes && (bytes == 0 || result.data != nullptr)) return {};
  const std::uint64_t room = result.data == nullptr ? 0 : result.data_bytes;
  result.data_bytes = bytes;
  return Error(Errc::message_too_large, "the result is " + desc.text() + ", " +
                                            std::to_string(bytes) + " bytes; there is room for " +
                                            std::to_string(room));
}

Result<void> check_rooms(std::span<ringkernel_tensor> results, std::span<const TensorDesc> descs) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    Result<void> room = check_room(results[i], descs[i]);
    if (room) continue;
    for (std::size_t k = 0; k < results.size(); ++k) results[k].data_bytes = descs[k].bytes();
    return room;
  }
  return {};
}

void describe(const TensorDesc& desc, ringkernel_tensor& result) noexcept {
  result.dtype = static_cast<std::int32_t>(desc.dtype);
  result.rank = static_cast<std::uint32_t>(desc.shape.rank());
  for (std::size_t dim = 0; dim < desc.shape.rank(); ++dim) result.dims[dim] = desc.shape[dim];
  result.data_bytes = desc.bytes();
}

void copy_result(const TensorView& view, ringkernel_tensor& result) noexcept {
  describe(view.desc, result);
  if (result.data_bytes != 0) std::memcpy(result.data, view.data, result.data_bytes);
}

Result<void> take(const Reply& reply, ringkernel_tensor& result) {
  RK_TRY_VOID(check_room(result, reply.tensor().desc));
  copy_result(reply.tensor(), result);
  return {};
}

}  // namespace ringkernel::capi
