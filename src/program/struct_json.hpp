/// The bytes of a struct as JSON, in the form that FlatBuffers prints: one line, enums by their
/// names. Numbers are exact: who reads them gets the same bits. `nan`, `inf` and `-inf` stand for
/// floats that JSON has no numbers for.
///
/// Threading: a plain function.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "program/model.hpp"

namespace ringkernel::program {

/// `name`: the full name of a struct of the model, whose bytes these are.
[[nodiscard]] std::string struct_json(const Model& model, std::string_view name,
                                      std::span<const std::byte> bytes);

}  // namespace ringkernel::program
