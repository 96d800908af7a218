/// The figures that the ops promise, each measured beside its baseline in the same process.
///
/// Threading: one thread.
/// Errors: exceptions derived from std::exception; a wrong result is one.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "measurement.hpp"

namespace bench {

/// Both give the seconds of one op, the mean over some hundredths of a second.
struct Stopwatches {
  std::function<double()> ours;
  std::function<double()> theirs;
};

struct OpsFigure {
  std::string_view name;
  std::string_view unit;  ///< "x": theirs / ours; "ns": ours - theirs
  Better better;
  double bar;
  std::string_view baseline;
  std::string_view absent;            ///< why it cannot be measured here; empty if it can
  std::function<Stopwatches()> make;  ///< prepares the operands and compares both results

  [[nodiscard]] double value(double ours, double theirs) const {
    return unit == "x" ? theirs / ours : (ours - theirs) * 1e9;
  }
  [[nodiscard]] bool met(double value) const {
    return better == Better::lower ? value <= bar : value >= bar;
  }
};

[[nodiscard]] std::span<const OpsFigure> ops_figures();

}  // namespace bench
