#include "foundation/environment.hpp"

#include <stdlib.h>
#include <sys/auxv.h>

#include <algorithm>
#include <string>

namespace ringkernel {

std::string_view environment(const char* name) {
  const char* const value = secure_getenv(name);
  return value == nullptr ? std::string_view() : value;
}

std::vector<std::string> paths_of_environment(const char* name) {
  std::string_view left = environment(name);
  std::vector<std::string> paths;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(':'), left.size());
    if (end != 0) paths.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return paths;
}

Result<std::optional<bool>> switch_of_environment(const char* name) {
  const std::string_view value = environment(name);
  if (value.empty()) return std::optional<bool>();
  if (value == "0" || value == "1") return std::optional(value == "1");
  return Error(Errc::invalid_argument,
               std::string(name) + " is '" + std::string(value) + "'; there are 0 and 1");
}

bool has_foreign_environment() noexcept { return getauxval(AT_SECURE) != 0; }

}  // namespace ringkernel
