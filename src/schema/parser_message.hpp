/// What FlatBuffers' parser says, as our errors say it.
///
/// Threading: any thread.
#pragma once

#include <string>

namespace ringkernel::program {

/// The first that matters: its "/folder/FILE:3: 2: error: REASON" as "FILE:3:2: REASON". Empty
/// where nothing does.
std::string first_reason(const std::string& said, const std::string& file);

}  // namespace ringkernel::program
