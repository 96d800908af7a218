#include "bench_model.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace bench {
namespace {

namespace rk = ringkernel;

/// A model that `rk` fetches.
struct FetchedModel {
  std::string_view name;  ///< of cases
  const char* variable;   ///< names the file

  /// Empty: not at hand.
  [[nodiscard]] std::string file() const {
    const char* const path = std::getenv(variable);
    return path == nullptr ? "" : path;
  }
  [[nodiscard]] std::string why_absent() const {
    if (!file().empty()) return "";
    return std::string(variable) + " names no model; ./rk bench models fetches it";
  }
};

constexpr FetchedModel fetched[] = {{"silero", "RINGKERNEL_SILERO"},
                                    {"mobilenet", "RINGKERNEL_MOBILENET"},
                                    {"minilm16", "RINGKERNEL_MINILM"},
                                    {"magika", "RINGKERNEL_MAGIKA"}};

const FetchedModel* find_fetched(std::string_view case_name) {
  for (const FetchedModel& model : fetched)
    if (case_name.starts_with(model.name)) return &model;
  return nullptr;
}

std::string fetched_file(std::string_view name) {
  if (const std::string reason = why_absent(name); !reason.empty())
    throw std::runtime_error(reason);
  return find_fetched(name)->file();
}

/// Numbers from 0 to 65535, others for each seed.
class Noise {
 public:
  explicit Noise(std::size_t seed) : state_(static_cast<std::uint32_t>(seed) * 2654435761u + 1) {}
  std::uint32_t next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 16;
  }
  /// From -0.5 to 0.5.
  double hiss() { return next() / 65536.0 - 0.5; }

 private:
  std::uint32_t state_;
};

/// 64 samples of the frame before, and 512 new ones: a tone that comes and goes, with noise.
Operands make_frame(std::size_t number) {
  std::vector<float> audio(576);
  Noise noise(number);
  for (std::size_t i = 0; i < audio.size(); ++i) {
    const double t = static_cast<double>(number * 512 + i) / 16'000;
    audio[i] = static_cast<float>(0.4 * std::sin(6.28 * 180 * t) * std::sin(6.28 * 2 * t) *
                                      std::sin(6.28 * 700 * t) +
                                  0.02 * noise.hiss());
  }
  return Operands({audio});
}

/// 8 x 8 pixels from 0 to 16. They show no digits, so that the probabilities are less clear.
Operands make_pixels(std::size_t number) {
  std::vector<float> pixels(64);
  Noise noise(number);
  for (float& pixel : pixels) pixel = static_cast<float>(noise.next() % 17);
  return Operands({pixels});
}

/// Three times 48 x 192 pixels from -1 to 1: stripes, other ones for each run, with noise.
Operands make_image(std::size_t number) {
  std::vector<float> image;
  Noise noise(number);
  const double across = 0.1 + 0.5 * (noise.hiss() + 0.5), down = 0.5 * (noise.hiss() + 0.5);
  for (std::size_t channel = 0; channel < 3; ++channel)
    for (std::size_t row = 0; row < 48; ++row)
      for (std::size_t column = 0; column < 192; ++column)
        image.push_back(static_cast<float>(
            0.7 * std::sin(across * static_cast<double>(column) + down * static_cast<double>(row)) +
            0.6 * noise.hiss()));
  return Operands({image});
}

/// 16 words between the marks of a sentence's ends, all of them looked at.
Operands make_sentence(std::size_t number) {
  constexpr std::int64_t begin = 101, end = 102, first_word = 1996, words = 20'000;
  std::vector<std::int64_t> ids(16);
  Noise noise(number);
  for (std::int64_t& id : ids) id = first_word + noise.next() % words;
  ids.front() = begin;
  ids.back() = end;
  return Operands({ids, std::vector<std::int64_t>(16, 1)});
}

/// The ends of a file, 1,024 bytes of each.
Operands make_bytes(std::size_t number) {
  std::vector<std::int32_t> bytes(2048);
  Noise noise(number);
  for (std::int32_t& byte : bytes) byte = static_cast<std::int32_t>(noise.next() % 256);
  return Operands({bytes});
}

/// A file of tests/vectors/models.
BenchModel mlp_of(const char* file) {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path();
  return {.file = root / "tests/vectors/models" / file,
          .inputs = {{"input", {1, 64}}},
          .output = {"probabilities", {1, 10}},
          .make_operands = make_pixels,
          .runs_per_sample = 32};
}

}  // namespace

rk::Elements elements_of(const Values& values) {
  return std::visit([](const auto& elements) { return rk::Elements(elements); }, values);
}

rk::ElementsOut place_in(Values& values) {
  return std::visit([](auto& elements) { return rk::ElementsOut(elements); }, values);
}

std::size_t Port::size() const {
  std::size_t elements = 1;
  for (const std::int64_t extent : dims) elements *= static_cast<std::size_t>(extent);
  return elements;
}

std::vector<Operands> BenchModel::make_runs() const {
  std::vector<Operands> runs;
  for (std::size_t number = 0; number < 64; ++number) runs.push_back(make_operands(number));
  return runs;
}

BenchModel silero() {
  return {.file = fetched_file("silero"),
          .inputs = {{"input", {1, 576}}},
          .output = {"speech_probs", {1}},
          .make_operands = make_frame,
          .state = {{"h", "hn"}, {"c", "cn"}},
          .state_dims = {1, 1, 128}};
}

BenchModel mlp() { return mlp_of("digits_mlp.onnx"); }
BenchModel bare_mlp() { return mlp_of("digits_mlp_bare.onnx"); }
BenchModel mlir_mlp() { return mlp_of("digits_mlp_bare.mlir"); }

BenchModel mobilenet() {
  return {.file = fetched_file("mobilenet"),
          .inputs = {{"x", {1, 3, 48, 192}}},
          .output = {"save_infer_model/scale_0.tmp_1", {1, 2}},
          .make_operands = make_image};
}

BenchModel minilm16() {
  return {.file = fetched_file("minilm16"),
          .inputs = {{"input_ids", {1, 16}}, {"attention_mask", {1, 16}}},
          .output = {"461", {1, 384}},
          .make_operands = make_sentence};
}

BenchModel magika() {
  return {.file = fetched_file("magika"),
          .inputs = {{"bytes", {1, 2048}}},
          .output = {"target_label", {1, 214}},
          .make_operands = make_bytes};
}

std::string why_absent(std::string_view case_name) {
  const FetchedModel* const model = find_fetched(case_name);
  return model == nullptr ? "" : model->why_absent();
}

}  // namespace bench
