/// The cases and figures of `turns`: short calls of one ring kernel beside long ops of another.
///
/// Threading: one thread, at first.
/// Ownership: names live as long as the process.
#pragma once

#include <span>

#include "cases.hpp"

namespace bench {

/// For each way W (native, zero_copy, dma, sliced): `add16_beside_products_W` in us, whose value is
/// the p99; `product1024_W` and `product1024_beside_calls_W` in ms. For the first two also
/// `add16_beside_conv_W` and `add16_beside_graph_W`.
[[nodiscard]] std::span<const Case> turns_cases();

}  // namespace bench
