/// Our programs as backends get them.
#pragma once

#include <memory>
#include <string_view>

#include "program/definition.hpp"

namespace ringkernel::testing {

/// `core` or `echo`; stays until the process ends.
inline rk_program_source built_in(std::string_view name) {
  static const auto core = program::Definition::built_in("core");
  static const auto echo = program::Definition::built_in("echo");
  return (name == "core" ? core : echo)->source(1);
}

}  // namespace ringkernel::testing
