/// The text that a C++ compiler makes a program's handlers of, ahead of the time of use.
///
/// Threading: pure.
#pragma once

#include <string>
#include <string_view>

#include "program/definition.hpp"

namespace rkc {

/// What the native backend compiles at run time, and two things more: the first line tells the hash
/// by which a runtime knows the builds of its own text, and where RK_HOSTED_NAMESPACE is defined,
/// all names are in that namespace, so that several builds can be linked together. `handlers` is
/// the source of the program, with its headers.
[[nodiscard]] std::string hosted_unit(const ringkernel::program::Definition& definition,
                                      std::string_view handlers);

}  // namespace rkc
