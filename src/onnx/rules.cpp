#include "onnx/rules.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>

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

constexpr Rule rules[] = {
#define RK_ONNX(name, since, until, operands, gives, lower, fold) \
  {#name, since, until, operands, lower_to_list<lower>, fold},
#include "onnx/ops.def"
#undef RK_ONNX
};
static_assert(std::ranges::is_sorted(rules, {}, &Rule::op), "in the order of the alphabet");

}  // namespace

const Rule* find_rule(std::string_view domain, std::string_view op) {
  if (!domain.empty()) return nullptr;
  const auto* const found = std::ranges::lower_bound(rules, op, {}, &Rule::op);
  return found != std::end(rules) && found->op == op ? found : nullptr;
}

}  // namespace ringkernel::onnx
