// Resident tensors as inputs and outputs of a function.
#include <algorithm>
#include <string>
#include <utility>

#include "ops/ir_text.hpp"
#include "runtime/functions/function_state.hpp"

namespace ringkernel::detail {
namespace {

/// Layouts that an instance remembers: how it is executed seldom changes.
constexpr std::size_t layouts_max = 8;

}  // namespace

Result<std::uint64_t> FunctionState::check_into(std::span<const TensorView> inputs,
                                                std::span<const Into> into) const {
  std::uint64_t residents = 0;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const Into& to = into[i];
    if (to.output >= signature_->outputs.size())
      return mismatch(Errc::invalid_argument, "an output in `into`",
                      "one of " + std::to_string(signature_->outputs.size()) + " outputs",
                      "number " + std::to_string(to.output));
    const auto what = [&] {
      return ops::place_text("output", to.output, signature_->output_names[to.output]);
    };
    if ((residents & output_bit(to.output)) != 0)
      return mismatch(Errc::invalid_argument, what(), "one place", "two in `into`");
    if (to.tensor.tensor == 0)
      return mismatch(Errc::tensor_not_found, what(), "a resident tensor", "elements");
    residents |= output_bit(to.output);
    RK_TRY_VOID(check_separate(inputs, to, into.first(i)));
  }
  return residents;
}

Result<void> FunctionState::check_separate(std::span<const TensorView> inputs, const Into& to,
                                           std::span<const Into> before) const {
  const auto what = [&](const char* kind, std::size_t number,
                        const std::vector<std::string>& names) {
    return ops::place_text(kind, number, names[number]);
  };
  const auto refuse = [&](const std::string& other, const char* why) {
    return mismatch(Errc::invalid_argument, what("output", to.output, signature_->output_names),
                    "a tensor of its own",
                    "tensor " + std::to_string(to.tensor.tensor) + ", which is " + other + why);
  };
  for (const Into& other : before)
    if (other.tensor.tensor == to.tensor.tensor)
      return refuse(what("output", other.output, signature_->output_names), "");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].tensor == to.tensor.tensor && (code_.overwrites()[to.output] >> i & 1u) == 0)
      return refuse(what("input", i, signature_->input_names),
                    ": the function reads it when or after it writes the output");
  return {};
}

Result<FunctionState::LayoutPointer> FunctionState::layout_of(std::uint64_t residents) const {
  if (residents == 0 && plain_ != nullptr) return plain_;
  const std::lock_guard lock(layouts_mutex_);
  const auto found = std::ranges::find(layouts_, residents, &FunctionLayout::residents);
  if (found != layouts_.end()) return *found;
  RK_TRY(made, FunctionLayout::make(code_, place_, residents));
  if (layouts_.size() == layouts_max) layouts_.erase(layouts_.begin());
  layouts_.push_back(made);
  return made;
}

Result<void> FunctionState::bind(std::span<const TensorView> inputs, std::span<const Into> into,
                                 Parts& parts) const {
  std::array<TensorTable::Binding, RK_GRAPH_BINDINGS_MAX> bindings;
  std::size_t count = 0;
  std::ranges::copy(parts.layout->table, parts.table.begin());
  std::array<std::size_t, RK_GRAPH_BINDINGS_MAX> entries{};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].tensor == 0) continue;
    const bool is_indices = (code_.index_inputs() >> i & 1u) != 0;
    entries[count] = i;
    bindings[count++] = {inputs[i].tensor,           inputs[i].desc, false, is_indices, i,
                         &signature_->input_names[i]};
  }
  for (const Into& to : into) {
    entries[count] = inputs.size() + to.output;
    bindings[count++] = {to.tensor.tensor, signature_->outputs[to.output],      true, false,
                         to.output,        &signature_->output_names[to.output]};
  }
  Result<TensorTable::Held*> held =
      kernel_->runtime().tensors().hold(std::span(bindings).first(count));
  if (!held) {
    Error error = std::move(held).error();
    error.detail = "compiled function '" + signature_->name + "': " + error.detail;
    return error;
  }
  for (std::size_t i = 0; i < count; ++i)
    parts.table[entries[i]] = (*held)->bound_offsets()[i] | RK_PLACE_ARENA;
  parts.prepared.held.reset(*held);
  parts.prepared.envelope.lease = *held;
  return {};
}

}  // namespace ringkernel::detail
