/// The figures of a run as a table for people.
///
/// Threading: any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace digits {

/// What plain OpenCL did on which device.
struct PlainOutcome {
  std::string device;
  Outcome every_op;    ///< one launch per request
  Outcome each_digit;  ///< the five launches of a digit chained
};

/// What ring kernels did on which backend and device.
struct RingOutcome {
  std::string backend;
  std::string device;
  Outcome every_op = {};    ///< one call per op
  Outcome each_digit = {};  ///< one message per digit: a graph
};

/// Two tables, which compare like with like: op by op, and digit by digit. The ratio is plain over
/// the first of ours, for throughput the other way round: larger is better for ours.
[[nodiscard]] std::string tables(const std::vector<RingOutcome>& ours,
                                 const std::optional<PlainOutcome>& plain);

}  // namespace digits
