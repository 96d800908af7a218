/// The list that every bench of the project writes with `--json FILE`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct Row {
  std::string name;
  double value = 0;
  std::string unit;
  std::uint64_t samples = 0;
  double spread = 0;  ///< of the rounds: (max - min) / median
};

/// A list of {name, value, unit, samples, spread}. Throws if the file cannot be written.
void write_json(const std::string& file, const std::vector<Row>& rows);

}  // namespace bench
