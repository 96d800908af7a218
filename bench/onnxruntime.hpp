/// onnxruntime, if its library is at hand: a file that RINGKERNEL_ONNXRUNTIME names, as
/// `./rk bench choose` has it.
///
/// Threading: one thread, which does the work as well.
/// Ownership: a session borrows the model, and the elements of inputs and outputs.
/// Errors: std::runtime_error.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringkernel/prepared_call.hpp"

namespace bench {

struct OnnxruntimeState {
  std::string version;  ///< empty: it cannot be had
  std::string reason;   ///< why not
};

/// Opens the library.
[[nodiscard]] OnnxruntimeState find_onnxruntime();

/// An input or output of a model.
struct OnnxPlace {
  std::string name;
  std::vector<std::int64_t> shape;
  ringkernel::ElementsOut elements;
};

/// A model at its best: one thread, every optimisation, inputs and outputs made once.
class OnnxSession {
 public:
  OnnxSession(std::span<const char> model, const std::vector<OnnxPlace>& inputs,
              const std::vector<OnnxPlace>& outputs);
  ~OnnxSession();
  void run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
