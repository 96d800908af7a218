/// onnxruntime, if its library is at hand: a file that RINGKERNEL_ONNXRUNTIME names, as
/// `./rk bench choose` has it.
///
/// Threading: one thread, which does the work as well.
/// Errors: std::runtime_error.
#pragma once

#include <string>

namespace bench {

struct OnnxruntimeState {
  std::string version;  ///< empty: it cannot be had
  std::string reason;   ///< why not
};

/// Opens the library.
[[nodiscard]] OnnxruntimeState find_onnxruntime();

}  // namespace bench
