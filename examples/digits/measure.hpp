/// Classifies all digits several times by several workers, and says how long it took.
///
/// Threading: one thread.
/// Units: seconds, microseconds and digits per second, as the names say.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "classifier.hpp"

namespace digits {

struct Percentiles {
  double p50_us = 0;
  double p99_us = 0;
  double p999_us = 0;
};

struct Outcome {
  std::string classes;  ///< of the last pass, one character per digit
  Percentiles op;       ///< one request; all zero where a digit is one request
  Percentiles digit;    ///< the whole network
  double digits_per_second = 0;
  std::size_t digits_measured = 0;
};

/// Runs one uncounted pass over all digits, then counted ones until `at_least` has passed. The
/// workers share the digits out among themselves, each on its own thread. Shows the progress under
/// this title. What a worker throws comes out here.
[[nodiscard]] Outcome measure(std::string_view title, const Dataset& dataset,
                              std::chrono::duration<double> at_least,
                              const std::vector<std::unique_ptr<Classifier>>& workers);

/// How many of the predicted classes are what the dataset says.
[[nodiscard]] std::size_t count_right(const Dataset& dataset, std::string_view predicted);

/// One line of text, so that an outcome can pass from process to process.
std::ostream& operator<<(std::ostream& stream, const Outcome& outcome);
std::istream& operator>>(std::istream& stream, Outcome& outcome);

}  // namespace digits
