/// Messages for `rkc check`: made up from the schema alone, in JSON; and states, as their bytes.
///
/// Threading: one thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "program/model.hpp"
#include "random.hpp"

namespace rkc {

/// A table of that type as JSON. Fields come in any order, absent or present. In one table of two,
/// integers are small; in the others they are bounds, too, and enums have other values than theirs.
/// In one of four, floats are what they may be besides: NaN, infinities, denormals. Vectors have no
/// element, one, or some hundreds.
[[nodiscard]] std::string sample_of(const ringkernel::program::Model& model,
                                    const ringkernel::program::Object& table, Random& random);

/// The bytes of a struct of that type, with values as in `sample_of`. Padding is zero.
[[nodiscard]] std::vector<std::byte> struct_sample_of(const ringkernel::program::Model& model,
                                                      const ringkernel::program::Object& structure,
                                                      Random& random);

/// Changes bytes as a hostile sender would: some of them, an offset, the length.
void spoil(std::vector<std::byte>& message, Random& random);

}  // namespace rkc
