#include "python/prepared_calls.hpp"

#include <algorithm>
#include <chrono>

#include "python/operands.hpp"
#include "python/waiting.hpp"

namespace ringkernel::python {
namespace {

/// Threads of Python that call longer ones at a time have a core each.
constexpr std::chrono::microseconds longest_with_lock{5};
/// An event loop's thread waits for its op anyway, and a turn of the loop costs more.
constexpr std::chrono::microseconds longest_in_loop{100};

bool is_alike(const Request& a, const Request& b) noexcept {
  if (a.op != b.op || a.input_count != b.input_count || a.output != b.output) return false;
  for (std::size_t i = 0; i < a.input_count; ++i)
    if (a.inputs[i].tensor != b.inputs[i].tensor || !(a.inputs[i].desc == b.inputs[i].desc))
      return false;
  const OpInfo* const info = find_op(static_cast<std::uint16_t>(a.op));
  return info != nullptr && (!info->reads_attributes || a.attributes == b.attributes);
}

}  // namespace

bool run(PreparedCall& call, std::span<const ElementsOut> results,
         std::span<const Elements> operands, const SendOptions& options, bool may_wait,
         bool& is_short) {
  using Clock = std::chrono::steady_clock;
  const bool has_timeout = options.timeout != std::chrono::nanoseconds(0);
  if (!has_timeout && (is_short || !may_wait)) {
    const auto longest = may_wait ? longest_with_lock : longest_in_loop;
    if (value_of(at_once([&] { return call.try_call_into(results, operands, longest); })))
      return true;
  }
  if (!may_wait) return false;
  const Clock::time_point begin = Clock::now();
  value_of(waiting([&] { return call.call_into(results, operands, options); }));
  is_short = Clock::now() - begin < longest_with_lock;
  return true;
}

PreparedCalls::Entry* PreparedCalls::take(Kernel& kernel, const Request& request) {
  const nb::ft_lock_guard lock(mutex_);
  for (std::size_t i = 0; i < count_; ++i) {
    Entry& entry = entries_[i];
    if (!is_alike(entry.request, request)) continue;
    if (entry.is_taken) return nullptr;
    if (!entry.call) {
      std::array<TensorDesc, inputs_max> inputs;
      for (std::size_t k = 0; k < request.input_count; ++k) inputs[k] = request.inputs[k].desc;
      Result<Inference> inferred =
          infer(request.op, std::span(inputs).first(request.input_count), request.attributes);
      // The plain call says what is wrong, or answers without a result.
      if (!inferred || inferred->output.dtype == DType::none) return nullptr;
      Result<PreparedCall> prepared = kernel.prepare(request);
      if (!prepared) return nullptr;
      entry.result = inferred->output;
      entry.call.emplace(std::move(*prepared));
    }
    entry.is_taken = true;
    return &entry;
  }
  if (count_ < entries_.size()) {
    entries_[count_++].request = request;
    return nullptr;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    Entry& entry = entries_[next_];
    next_ = (next_ + 1) % count_;
    if (entry.is_taken) continue;
    entry.call.reset();
    entry.is_short = false;
    entry.request = request;
    break;
  }
  return nullptr;
}

void PreparedCalls::give_back(Entry& entry) noexcept {
  const nb::ft_lock_guard lock(mutex_);
  entry.is_taken = false;
}

}  // namespace ringkernel::python
