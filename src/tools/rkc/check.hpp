/// `rkc check`: runs every handler of a program over messages made up from its schema, and tells
/// what would go wrong.
///
/// Threading: one thread.
/// Errors: of what the program or the machine lacks, so that nothing was checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/definition.hpp"
#include "ringkernel/program.hpp"
#include "ringkernel/result.hpp"

namespace rkc {

struct CheckOptions {
  std::uint64_t seed = 1;
  std::size_t count = 64;  ///< messages for each method
  std::vector<unsigned> lanes{1, 8, 64};
  unsigned seconds = 10;  ///< of processor time for a message
};

/// What was found, for people; and whether anything was.
struct CheckReport {
  std::string text;
  bool is_clean = true;
};

[[nodiscard]] ringkernel::Result<CheckReport> check(const ringkernel::ProgramDesc& program,
                                                    const ringkernel::program::Definition& made,
                                                    const CheckOptions& options);

}  // namespace rkc
