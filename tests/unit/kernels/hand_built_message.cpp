#include "unit/kernels/hand_built_message.hpp"

#include <algorithm>
#include <cstring>

#include "foundation/align.hpp"
#include "support/elements.hpp"

namespace ringkernel::test {

namespace {

constexpr std::size_t guard_bytes = 256;
constexpr std::size_t arena_size = 4096;
constexpr rk_u8 untouched = 0xa5;
constexpr std::size_t first_operand = 384;  // behind the command, a multiple of 64

constexpr std::size_t padded(std::size_t bytes) { return align_up(bytes, std::size_t{64}); }
std::size_t bytes_of(const TensorDesc& desc) { return static_cast<std::size_t>(desc.bytes()); }

rk_operand operand_at(const TensorDesc& desc, rk_u64 offset) {
  const Shape& shape = desc.shape;
  rk_operand operand{};
  operand.offset = offset;
  operand.place = RK_PLACE_MESSAGE;
  operand.dtype = static_cast<rk_u8>(desc.dtype);
  operand.rank = static_cast<rk_u8>(shape.rank());
  operand.element_count = static_cast<rk_u32>(shape.element_count());
  for (std::size_t dim = 0; dim < rank_max; ++dim) operand.dims[dim] = shape[dim];
  return operand;
}

Inference inferred(Op op, std::span<const Tensor> inputs, const OpAttributes& attributes) {
  std::vector<TensorDesc> descs;
  for (const Tensor& input : inputs) descs.push_back(input.desc());
  return infer(op, descs, attributes).value();
}

}  // namespace

Tensor random_tensor(const Shape& shape, std::mt19937& random) {
  std::normal_distribution<float> normal;
  Tensor tensor{shape, std::vector<float>(shape.element_count())};
  std::ranges::generate(tensor.elements, [&] { return normal(random); });
  return tensor;
}

HandBuiltMessage::Bytes::Bytes(std::size_t size)
    : data_(static_cast<rk_u8*>(::operator new (size, std::align_val_t{64}))), size_(size) {}

std::size_t HandBuiltMessage::payload_size(std::span<const Tensor> inputs) {
  std::size_t end = first_operand;
  for (const Tensor& input : inputs) end = padded(end) + bytes_of(input.desc());
  return end;
}

HandBuiltMessage::HandBuiltMessage(Op op, std::span<const Tensor> inputs,
                                   const OpAttributes& attributes)
    : payload_(payload_size(inputs)),
      result_(inferred(op, inputs, attributes).output),
      attrs_(inferred(op, inputs, attributes).attrs),
      written_(3 * guard_bytes + padded(bytes_of(result_)) + arena_size) {
  std::memset(payload_.data(), 0, payload_.size());
  rk_command header{};
  header.op = static_cast<rk_u16>(op);
  header.input_count = static_cast<rk_u8>(inputs.size());
  header.output_count = op == Op::noop ? 0 : 1;
  header.output = operand_at(result_, 0);
  header.attrs = attrs_;
  std::size_t offset = first_operand;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    offset = padded(offset);
    header.inputs[i] = operand_at(inputs[i].desc(), offset);
    const std::vector<std::byte> bytes = encoded(inputs[i].elements, inputs[i].dtype);
    std::memcpy(payload_.data() + offset, bytes.data(), bytes.size());
    offset += bytes.size();
  }
  std::memcpy(payload_.data() + command_offset, &header, sizeof header);
  reset();
}

rk_u8* HandBuiltMessage::reply() const { return written_.data() + guard_bytes; }

rk_command& HandBuiltMessage::command() {
  return *reinterpret_cast<rk_command*>(payload_.data() + command_offset);
}

std::span<rk_u8> HandBuiltMessage::arena() {
  return {written_.data() + written_.size() - guard_bytes - arena_size, arena_size};
}

MessageMemory HandBuiltMessage::memory() {
  return {.payload = payload_.data(),
          .payload_bytes = static_cast<rk_u32>(payload_.size()),
          .command_offset = command_offset,
          .reply = reply(),
          .reply_bytes = static_cast<rk_u32>(bytes_of(result_)),
          .arena = arena().data(),
          .arena_bytes = arena_size};
}

Outcome HandBuiltMessage::run(const Programs& programs, rk_u32 lanes) {
  Outcome outcome{};
  for (rk_u32 lane = 0; lane < lanes; ++lane) outcome = programs.core(memory(), lane, lanes);
  return outcome;
}

void HandBuiltMessage::reset() { std::memset(written_.data(), untouched, written_.size()); }

rk_u8* HandBuiltMessage::input(std::size_t i) {
  return payload_.data() + command().inputs[i].offset;
}

std::vector<float> HandBuiltMessage::result() const { return decoded(result_, reply()); }

std::span<const rk_u8> HandBuiltMessage::result_bytes() const {
  return {reply(), bytes_of(result_)};
}

bool HandBuiltMessage::guards_are_intact() const {
  const std::span<const rk_u8> all(written_.data(), written_.size());
  const std::size_t reply_end = guard_bytes + bytes_of(result_);
  const std::size_t arena_begin = all.size() - guard_bytes - arena_size;
  const auto intact = [](std::span<const rk_u8> bytes) {
    return std::ranges::all_of(bytes, [](rk_u8 byte) { return byte == untouched; });
  };
  return intact(all.first(guard_bytes)) &&
         intact(all.subspan(reply_end, arena_begin - reply_end)) && intact(all.last(guard_bytes));
}

bool HandBuiltMessage::nothing_was_written() const {
  return std::all_of(written_.data(), written_.data() + written_.size(),
                     [](rk_u8 byte) { return byte == untouched; });
}

}  // namespace ringkernel::test
