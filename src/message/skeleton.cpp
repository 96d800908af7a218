#include "message/skeleton.hpp"

#include <bit>
#include <cstring>
#include <string>

#include "ringkernel/limits.hpp"
#include "schemas/message_generated.h"

namespace ringkernel::codec {
namespace {

static_assert(std::endian::native == std::endian::little, "schema structs are copied as they are");
static_assert(sizeof(schema::Operand) == sizeof(rk_operand));
static_assert(sizeof(schema::Command) == sizeof(rk_command));
static_assert(alignof(schema::Command) == alignof(rk_command));

rk_u8 place_of(bool resident) noexcept { return resident ? RK_PLACE_ARENA : RK_PLACE_MESSAGE; }

/// Everything of the command but the operands' offsets.
rk_command make_command(const Request& request, const Inference& inference,
                        std::uint32_t residents) {
  rk_command command{};
  command.op = static_cast<rk_u16>(request.op);
  command.input_count = static_cast<rk_u8>(request.input_count);
  if (inference.output.dtype != DType::none) {
    command.output_count = 1;
    command.output = make_operand(inference.output, place_of((residents & result_bit) != 0));
  }
  for (std::size_t i = 0; i < request.input_count; ++i)
    command.inputs[i] =
        make_operand(request.inputs[i].desc, place_of((residents & (1u << i)) != 0));
  command.attrs = inference.attrs;
  return command;
}

flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> reserve_data(
    flatbuffers::FlatBufferBuilder& builder, std::size_t bytes) {
  builder.ForceVectorAlignment(bytes, 1, RK_RECORD_ALIGN);
  std::uint8_t* unused = nullptr;
  return builder.CreateUninitializedVector(bytes, &unused);
}

/// The reply up to its data; the builder lays out backwards, so what is created first lies last.
std::vector<std::uint8_t> make_reply_prefix(const TensorDesc& output) {
  const auto data_bytes = static_cast<std::size_t>(output.bytes());
  flatbuffers::FlatBufferBuilder builder(data_bytes + 256);
  const auto data = reserve_data(builder, data_bytes);
  std::array<std::uint32_t, rank_max> dims{};
  for (std::size_t dim = 0; dim < rank_max; ++dim) dims[dim] = output.shape[dim];
  const schema::TensorInfo info(static_cast<std::uint8_t>(output.dtype),
                                static_cast<std::uint8_t>(output.shape.rank()), 0,
                                flatbuffers::span<const std::uint32_t, rank_max>(dims));
  builder.Finish(schema::CreateReply(builder, &info, data), schema::RequestIdentifier());
  const std::uint8_t* begin = builder.GetBufferPointer();
  const std::uint8_t* end = flatbuffers::GetRoot<schema::Reply>(begin)->data()->data();
  return {begin, end};
}

/// The request with unset operand data and offsets.
void build_request(flatbuffers::FlatBufferBuilder& builder, const Request& request,
                   const rk_command& command, const std::vector<std::uint8_t>& reply_prefix) {
  std::array<flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>>, inputs_max> data;
  for (std::size_t i = request.input_count; i-- > 0;)
    if (request.inputs[i].tensor == 0)
      data[i] = reserve_data(builder, static_cast<std::size_t>(request.inputs[i].desc.bytes()));
  builder.ForceVectorAlignment(reply_prefix.size(), 1, alignof(rk_command));
  const auto prefix = builder.CreateVector(reply_prefix);
  std::array<flatbuffers::Offset<schema::Data>, inputs_max> operands;
  for (std::size_t i = request.input_count; i-- > 0;)
    operands[i] = schema::CreateData(builder, data[i]);
  const auto list = builder.CreateVector(operands.data(), request.input_count);
  const auto bytes = std::bit_cast<schema::Command>(command);
  schema::FinishRequestBuffer(builder, schema::CreateRequest(builder, &bytes, list, prefix));
}

/// Tells the command in a built request where its operands lie, and notes the gaps.
void resolve_offsets(std::uint8_t* payload, rk_command& command, Skeleton& skeleton) {
  const schema::Request* built = schema::GetRequest(payload);
  const auto offset_of = [payload](const void* part) {
    return static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(part) - payload);
  };
  for (std::uint32_t i = 0; i < command.input_count; ++i) {
    const auto* bytes = built->operands()->Get(i)->bytes();
    if (bytes == nullptr) {
      skeleton.gaps[i].offset =
          i == 0 ? 0 : skeleton.gaps[i - 1].offset + skeleton.gaps[i - 1].bytes;
      continue;
    }
    skeleton.gaps[i] = {offset_of(bytes->data()), bytes->size()};
    command.inputs[i].offset = skeleton.gaps[i].offset;
  }
  skeleton.plan.command_offset = offset_of(built->command());
  skeleton.plan.prefix_offset = offset_of(built->reply_prefix()->data());
  std::memcpy(payload + skeleton.plan.command_offset, &command, sizeof(command));
}

void copy_constant(const std::uint8_t* payload, Skeleton& skeleton) {
  const auto* bytes = reinterpret_cast<const std::byte*>(payload);
  std::uint32_t position = 0;
  for (std::size_t i = 0; i < skeleton.kind.input_count; ++i) {
    const Skeleton::Gap& gap = skeleton.gaps[i];
    skeleton.constant.insert(skeleton.constant.end(), bytes + position, bytes + gap.offset);
    position = gap.offset + gap.bytes;
  }
  skeleton.constant.insert(skeleton.constant.end(), bytes + position,
                           bytes + skeleton.plan.payload_bytes);
}

/// Bytes that a request with these operands needs at most, and those of its reply.
Result<std::size_t> check_size(const Request& request, const TensorDesc& in_reply) {
  constexpr std::uint64_t overhead_max = 1024;  // tables, command, prefix, alignment
  std::uint64_t request_bytes = overhead_max;
  for (std::size_t i = 0; i < request.input_count; ++i)
    if (request.inputs[i].tensor == 0) request_bytes += request.inputs[i].desc.bytes();
  const std::uint64_t reply_bytes = overhead_max + in_reply.bytes();
  const auto refuse = [](const char* what, std::uint64_t bytes) {
    return Error(Errc::message_too_large, std::string("the ") + what + " needs " +
                                              std::to_string(bytes) + " bytes, the limit is " +
                                              std::to_string(message_bytes_max));
  };
  if (request_bytes > message_bytes_max) return refuse("request", request_bytes);
  if (reply_bytes > message_bytes_max) return refuse("reply", reply_bytes);
  return static_cast<std::size_t>(request_bytes);
}

}  // namespace

rk_operand make_operand(const TensorDesc& desc, rk_u8 place) noexcept {
  rk_operand operand{};
  operand.place = place;
  operand.dtype = static_cast<rk_u8>(desc.dtype);
  operand.rank = static_cast<rk_u8>(desc.shape.rank());
  operand.element_count = static_cast<rk_u32>(desc.element_count());
  for (std::size_t dim = 0; dim < rank_max; ++dim) operand.dims[dim] = desc.shape[dim];
  return operand;
}

Result<std::unique_ptr<const Skeleton>> make_skeleton(const Request& request) {
  RK_TRY(inference, check(request));
  return make_skeleton(request, inference);
}

Result<std::unique_ptr<const Skeleton>> make_skeleton(const Request& request,
                                                      const Inference& inference) {
  const std::uint32_t residents = residents_of(request);
  const TensorDesc in_reply =
      (residents & result_bit) != 0 ? TensorDesc{DType::none, {}} : inference.output;
  RK_TRY(bytes_max, check_size(request, in_reply));

  auto skeleton = std::make_unique<Skeleton>();
  skeleton->kind = request;
  const OpInfo* const info = find_op(static_cast<std::uint16_t>(request.op));
  skeleton->reads_attributes = info == nullptr || info->reads_attributes;
  for (TensorView& view : skeleton->kind.inputs) view.data = nullptr;
  skeleton->result = inference.output;

  const std::vector<std::uint8_t> prefix = make_reply_prefix(in_reply);
  rk_command command = make_command(request, inference, residents);
  command.output.offset = command.output_count == 0 ? 0 : prefix.size();
  flatbuffers::FlatBufferBuilder builder(bytes_max);
  build_request(builder, request, command, prefix);

  skeleton->plan.payload_bytes = builder.GetSize();
  skeleton->plan.prefix_bytes = static_cast<std::uint32_t>(prefix.size());
  skeleton->plan.reply_bytes = static_cast<std::uint32_t>(prefix.size() + in_reply.bytes());
  skeleton->plan.residents = residents;
  skeleton->plan.skeleton = skeleton.get();
  skeleton->output = in_reply;
  const std::span<const std::byte> prefix_bytes = std::as_bytes(std::span(prefix));
  skeleton->reply_prefix.assign(prefix_bytes.begin(), prefix_bytes.end());
  resolve_offsets(builder.GetBufferPointer(), command, *skeleton);
  copy_constant(builder.GetBufferPointer(), *skeleton);
  return std::unique_ptr<const Skeleton>(std::move(skeleton));
}

}  // namespace ringkernel::codec
