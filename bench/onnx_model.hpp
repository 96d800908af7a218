/// A model of `choose` in the format of ONNX, as far as its layers need it.
///
/// Threading: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "choose_work.hpp"

namespace bench {

/// Its inputs are `x0` and, of a sum, `x1`.
struct OnnxModel {
  std::string bytes;
  std::string output;  ///< its name
};
[[nodiscard]] OnnxModel make_onnx_model(const Work& work);

/// Images are [1, channel, row, column] there; ours have one channel, so the numbers are the same.
[[nodiscard]] std::vector<std::int64_t> onnx_input_shape(const Work& work);
[[nodiscard]] std::vector<std::int64_t> onnx_output_shape(const Work& work);

}  // namespace bench
