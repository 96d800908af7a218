#include "onnx/rules.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

namespace ringkernel::onnx {
namespace {

/// The rule as one that gives a list.
template <auto lower>
Result<Results> lower_to_list(const Operation& operation) {
  RK_TRY(made, lower(operation));
  if constexpr (std::is_same_v<decltype(made), Results>)
    return made;
  else
    return Results{Value(std::move(made))};
}

constexpr std::string_view onnx = "ai.onnx";
constexpr std::string_view ml = "ai.onnx.ml";

constexpr Rule rules[] = {
#define RK_ONNX(domain, name, since, until, operands, gives, lower, fold) \
  {domain, #name, since, until, operands, lower_to_list<lower>, fold},
#include "onnx/ops.def"
#undef RK_ONNX
};
constexpr auto full_name = [](const Rule& rule) { return std::pair(rule.domain, rule.op); };
static_assert(std::ranges::is_sorted(rules, {}, full_name), "in the order of the alphabet");

}  // namespace

const Rule* find_rule(std::string_view domain, std::string_view op) {
  const std::pair name(domain.empty() ? onnx : domain, op);
  const auto* const found = std::ranges::lower_bound(rules, name, {}, full_name);
  return found != std::end(rules) && full_name(*found) == name ? found : nullptr;
}

}  // namespace ringkernel::onnx
