/// The models of `models`: what both sides know of each, and what their runs take.
///
/// Threading: any.
/// Ownership: operands own their elements.
/// Errors: std::runtime_error where a model is not at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ringkernel/prepared_call.hpp"

namespace bench {

/// The elements of one input.
using Values =
    std::variant<std::vector<float>, std::vector<std::int32_t>, std::vector<std::int64_t>>;

[[nodiscard]] ringkernel::Elements elements_of(const Values& values);
[[nodiscard]] ringkernel::ElementsOut place_in(Values& values);

/// What one run takes, in the order of the model's inputs.
class Operands {
 public:
  explicit Operands(std::vector<Values> values) : values_(std::move(values)) {
    for (const Values& one : values_) views_.push_back(elements_of(one));
  }
  Operands(Operands&&) = default;

  [[nodiscard]] const std::vector<Values>& values() const { return values_; }
  [[nodiscard]] std::span<const ringkernel::Elements> views() const { return views_; }

 private:
  std::vector<Values> values_;
  std::vector<ringkernel::Elements> views_;
};

/// An input or output.
struct Port {
  std::string name;
  std::vector<std::int64_t> dims;

  [[nodiscard]] std::size_t size() const;
};

/// An input that becomes an output for the next run: f32.
struct KeptPort {
  std::string before, after;
};

struct BenchModel {
  std::string file;
  std::vector<Port> inputs;  ///< their types are those of the operands
  Port output;               ///< f32
  /// Of the runs, from 0 on.
  Operands (*make_operands)(std::size_t number);
  std::size_t runs_per_sample = 1;  ///< so many that reading the clock does not count
  std::vector<KeptPort> state = {};
  std::vector<std::int64_t> state_dims = {};  ///< of each

  /// Of 64 runs.
  [[nodiscard]] std::vector<Operands> make_runs() const;
};

/// Of each, what model_cases.hpp says.
[[nodiscard]] BenchModel silero();
[[nodiscard]] BenchModel mlp();
/// The same without its label, which onnxruntime would compute even if only the probabilities are
/// asked for.
[[nodiscard]] BenchModel bare_mlp();
/// The same in MLIR.
[[nodiscard]] BenchModel mlir_mlp();
[[nodiscard]] BenchModel mobilenet();
[[nodiscard]] BenchModel minilm16();
[[nodiscard]] BenchModel magika();

/// Why the model of this case is not at hand; empty: it is.
[[nodiscard]] std::string why_absent(std::string_view case_name);

}  // namespace bench
