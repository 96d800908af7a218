/// The figures of a run as a table for people.
///
/// Threading: any thread.
#pragma once

#include <optional>
#include <string>

#include "measure.hpp"

namespace digits {

/// What plain OpenCL did on which device.
struct PlainOutcome {
  std::string device;
  Outcome every_op;    ///< one launch per request
  Outcome each_digit;  ///< the five launches of a digit chained
};

/// What ring kernels did.
struct RingOutcome {
  Outcome every_op;    ///< one call per op
  Outcome each_digit;  ///< one message per digit: a graph
};

/// Ratios are plain over ours, for throughput ours over plain: larger is better for ours. Each
/// compares like with like: op by op, and digit by digit.
[[nodiscard]] std::string table(const RingOutcome& ours, const std::optional<PlainOutcome>& plain);

}  // namespace digits
