/// Files of these tests.
#pragma once

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "program/schema.hpp"

namespace ringkernel::program::test {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Of "trading" or "sensor": what flatc has made of it.
inline std::vector<std::byte> binary_of(const std::string& schema) {
  const std::string bytes = read_file(RK_TEST_MADE "/" + schema + ".bfbs");
  const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
  return {first, first + bytes.size()};
}

inline SchemaSource source_of(const std::string& schema) {
  return {schema + ".fbs", find_lines(read_file(RK_TEST_SCHEMAS "/" + schema + ".fbs"))};
}

}  // namespace ringkernel::program::test
