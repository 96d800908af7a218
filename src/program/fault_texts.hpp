/// What a program's sources say of their faults: `RK_FAULT_TEXT(1, "no lines")`
/// (kernels/rk_actor.h).
///
/// Threading: any thread.
/// Errors: build_failed, "book.rk.cl:3: reason".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "program/schema.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::program {

/// Bytes of one text.
inline constexpr std::size_t fault_text_bytes_max = 256;

/// By their codes.
using FaultTexts = std::map<std::uint32_t, std::string>;

/// A scan, which sees what `#if` leaves out, too. The definition of a macro of that name is none.
Result<FaultTexts> find_fault_texts(std::span<const HandlerText> files);

}  // namespace ringkernel::program
