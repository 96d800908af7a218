#include "graph/function_layout.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "foundation/align.hpp"

namespace ringkernel::detail {
namespace {

constexpr std::uint64_t align = RK_RECORD_ALIGN;

/// Inputs and outputs travel as plain words.
TensorDesc words(std::uint64_t bytes) {
  return {DType::f32, {static_cast<std::uint32_t>(bytes / sizeof(float))}};
}

Result<void> check_fits(const FunctionSignature& signature, const char* what, std::uint64_t bytes,
                        std::uint64_t bytes_max) {
  if (bytes <= bytes_max) return {};
  return Error(Errc::message_too_large,
               "compiled function '" + signature.name + "' takes at most " +
                   std::to_string(bytes_max) + " bytes of " + what + " in a message, not " +
                   std::to_string(bytes) + ": the others have to be resident tensors");
}

}  // namespace

std::uint64_t bytes_in_message(std::uint64_t all, std::uint64_t bytes_max) {
  return bytes_max == 0 ? all : std::min(all, bytes_max);
}

Result<std::shared_ptr<const FunctionLayout>> FunctionLayout::make(const FunctionCode& code,
                                                                   const Place& place,
                                                                   std::uint64_t residents) {
  const std::shared_ptr<const FunctionSignature>& plain = code.signature();
  auto layout = std::make_shared<FunctionLayout>();
  layout->residents = residents;
  const std::size_t inputs = plain->inputs.size();
  const std::size_t outputs = plain->outputs.size();
  if (residents != 0) layout->table.resize(inputs + outputs);
  const std::uint64_t table_bytes = align_up(layout->table.size() * sizeof(std::uint64_t), align);
  std::uint64_t input_bytes = table_bytes;
  for (std::size_t i = 0; i < inputs; ++i) {
    layout->input_offsets.push_back(input_bytes);
    if ((residents & input_bit(i)) != 0) continue;
    if (residents != 0) layout->table[i] = input_bytes | RK_PLACE_MESSAGE;
    input_bytes += align_up(plain->inputs[i].bytes(), align);
  }
  std::uint64_t output_bytes = 0;
  FunctionSignature signature = *plain;
  for (std::size_t i = 0; i < outputs; ++i) {
    const bool is_resident = (residents & output_bit(i)) != 0;
    signature.output_offsets[i] = is_resident ? FunctionResult::no_offset : output_bytes;
    if (is_resident) continue;
    if (residents != 0) layout->table[inputs + i] = output_bytes | RK_PLACE_MESSAGE;
    output_bytes += align_up(plain->outputs[i].bytes(), align);
  }
  RK_TRY_VOID(check_fits(*plain, "inputs", input_bytes - table_bytes, place.bytes_max));
  RK_TRY_VOID(check_fits(*plain, "outputs", output_bytes, place.bytes_max));
  layout->signature =
      residents == 0 ? plain : std::make_shared<const FunctionSignature>(std::move(signature));

  Inference run;
  if (output_bytes != 0) run.output = words(output_bytes);
  run.attrs.graph.count = static_cast<rk_u32>(plain->commands);
  run.attrs.graph.commands = place.commands;
  run.attrs.graph.own = place.own;
  run.attrs.graph.bindings = static_cast<rk_u32>(layout->table.size());
  Request kind;
  kind.op = static_cast<Op>(RK_OP_GRAPH);
  kind.input_count = 1;
  kind.inputs[0] = TensorView(words(input_bytes), nullptr);
  RK_TRY(skeleton, codec::make_skeleton(kind, run));
  layout->skeleton = std::move(skeleton);
  layout->table_offset = layout->skeleton->gaps[0].offset;
  for (std::uint64_t& offset : layout->input_offsets) offset += layout->skeleton->gaps[0].offset;
  return std::shared_ptr<const FunctionLayout>(std::move(layout));
}

}  // namespace ringkernel::detail
