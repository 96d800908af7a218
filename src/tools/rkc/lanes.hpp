/// The child of `rkc check` that runs messages on Oclgrind, which has put itself in the place of
/// OpenCL's library.
///
/// Threading: one thread.
#pragma once

#include <string>

namespace rkc {

struct LanesInputs {
  unsigned lanes = 1;
  std::string text;  ///< paths, as are the next three
  std::string messages;
  std::string results;
  std::string log;
  unsigned seconds = 0;  ///< of processor time for a message
};

/// The process's exit code.
int run_lanes(const LanesInputs& inputs);

}  // namespace rkc
