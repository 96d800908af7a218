/// Names that are made while the program runs; cases and figures keep views of theirs.
///
/// Threading: one thread.
/// Ownership: they live as long as the process.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

inline std::string_view keep(std::string name) {
  static std::deque<std::string> names;
  return names.emplace_back(std::move(name));
}

}  // namespace bench
