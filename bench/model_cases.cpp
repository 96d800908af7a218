#include "model_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "figures.hpp"
#include "onnxruntime.hpp"
#include "ringkernel/onnx.hpp"
#include "ringkernel/ringkernel.hpp"

namespace bench {
namespace {

namespace rk = ringkernel;

/// An input or output: f32.
struct Port {
  std::string name;
  std::vector<std::int64_t> dims;

  [[nodiscard]] std::size_t size() const {
    std::size_t elements = 1;
    for (const std::int64_t extent : dims) elements *= static_cast<std::size_t>(extent);
    return elements;
  }
};

/// An input that becomes an output for the next run.
struct KeptPort {
  std::string before, after;
};

/// What both sides know of a model: one input, one output, and perhaps a state.
struct BenchModel {
  std::string file;
  Port input, output;
  /// Inputs for runs, from 0 on.
  std::vector<float> (*make_input)(std::size_t number);
  std::size_t runs_per_sample = 1;  ///< so many that reading the clock does not count
  std::vector<KeptPort> state = {};
  std::vector<std::int64_t> state_dims = {};  ///< of each

  [[nodiscard]] rk::Result<rk::Graph> read() const {
    rk::onnx::Options options{.inputs = {{input.name, input.dims}}, .outputs = {output.name}};
    for (const KeptPort& kept : state) options.state.emplace(kept.before, kept.after);
    return rk::onnx::read_file(file, options);
  }
  [[nodiscard]] std::vector<std::vector<float>> make_inputs() const {
    std::vector<std::vector<float>> inputs;
    for (std::size_t number = 0; number < 64; ++number) inputs.push_back(make_input(number));
    return inputs;
  }
};

/// Numbers from 0 to 65535, others for each seed.
class Noise {
 public:
  explicit Noise(std::size_t seed) : state_(static_cast<std::uint32_t>(seed) * 2654435761u + 1) {}
  std::uint32_t next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 16;
  }

 private:
  std::uint32_t state_;
};

constexpr double frame_seconds = 512.0 / 16'000;

/// 64 samples of the frame before, and 512 new ones: a tone that comes and goes, with noise.
std::vector<float> make_frame(std::size_t number) {
  std::vector<float> audio(576);
  Noise noise(number);
  for (std::size_t i = 0; i < audio.size(); ++i) {
    const double t = static_cast<double>(number * 512 + i) / 16'000;
    const double hiss = noise.next() / 65536.0 - 0.5;
    audio[i] = static_cast<float>(0.4 * std::sin(6.28 * 180 * t) * std::sin(6.28 * 2 * t) *
                                      std::sin(6.28 * 700 * t) +
                                  0.02 * hiss);
  }
  return audio;
}

BenchModel silero() {
  const char* const path = std::getenv("RINGKERNEL_SILERO");
  if (path == nullptr || *path == '\0')
    throw std::runtime_error("RINGKERNEL_SILERO names no model; ./rk bench models fetches it");
  return {.file = path,
          .input = {"input", {1, 576}},
          .output = {"speech_probs", {1}},
          .make_input = make_frame,
          .state = {{"h", "hn"}, {"c", "cn"}},
          .state_dims = {1, 1, 128}};
}

/// 8 x 8 pixels from 0 to 16. They show no digits, so that the probabilities are less clear.
std::vector<float> make_pixels(std::size_t number) {
  std::vector<float> pixels(64);
  Noise noise(number);
  for (float& pixel : pixels) pixel = static_cast<float>(noise.next() % 17);
  return pixels;
}

/// A file of tests/vectors/models.
BenchModel mlp(const char* file = "digits_mlp.onnx") {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path();
  return {.file = root / "tests/vectors/models" / file,
          .input = {"input", {1, 64}},
          .output = {"probabilities", {1, 10}},
          .make_input = make_pixels,
          .runs_per_sample = 32};
}
/// The same without its label, which onnxruntime would compute even if only the probabilities are
/// asked for.
BenchModel bare_mlp() { return mlp("digits_mlp_bare.onnx"); }

class OurModel {
 public:
  OurModel(const BenchModel& model, const char* backend)
      : runtime_(rk::RingKernelRuntime::builder()
                     .backend(backend)
                     .options(rk::RuntimeOptions::low_latency())
                     .build()
                     .value()),
        function_(runtime_.compile(model.read().value(), {.in_flight_max = 1}).value()),
        call_(function_.prepare().value()) {}

  /// Valid until the next run.
  std::span<const float> run(const std::vector<float>& input) {
    return call_.call({input}).value().elements<float>();
  }
  rk::CompiledFunction& function() { return function_; }

 private:
  rk::RingKernelRuntime runtime_;
  rk::CompiledFunction function_;
  rk::PreparedCall call_;
};

class OrtModel {
 public:
  explicit OrtModel(const BenchModel& model)
      : input_(model.input.size()), output_(model.output.size()) {
    std::ifstream file(model.file, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    std::vector<OnnxPlace> inputs{{model.input.name, model.input.dims, input_}};
    std::vector<OnnxPlace> outputs{{model.output.name, model.output.dims, output_}};
    const std::size_t kept_size = Port{"", model.state_dims}.size();
    state_.resize(model.state.size() * kept_size);
    next_.resize(state_.size());
    for (std::size_t i = 0; i < model.state.size(); ++i) {
      const auto part = [&](std::vector<float>& elements) {
        return std::span(elements).subspan(i * kept_size, kept_size);
      };
      inputs.push_back({model.state[i].before, model.state_dims, part(state_)});
      outputs.push_back({model.state[i].after, model.state_dims, part(next_)});
    }
    session_.emplace(bytes_, inputs, outputs);
  }
  /// Valid until the next run.
  std::span<const float> run(const std::vector<float>& input) {
    std::ranges::copy(input, input_.begin());
    session_->run();
    std::ranges::copy(next_, state_.begin());
    return output_;
  }
  /// All of it, one behind the other.
  std::span<float> state() { return state_; }

 private:
  std::vector<char> bytes_;
  std::vector<float> input_, output_, state_, next_;
  std::optional<OnnxSession> session_;
};

template <class Side>
Measurement run_us(const BenchModel& model, Side&& side) {
  const auto inputs = model.make_inputs();
  Latencies latencies;
  for (std::size_t number = 0; latencies.more();) {
    const Stopwatch watch;
    for (std::size_t i = 0; i < model.runs_per_sample; ++i)
      (void)side.run(inputs[number++ % inputs.size()]);
    latencies.add(watch.us() / static_cast<double>(model.runs_per_sample));
  }
  return latencies.result();
}
Measurement ours_us(const BenchModel& model, const char* backend) {
  return run_us(model, OurModel(model, backend));
}
Measurement ort_us(const BenchModel& model) { return run_us(model, OrtModel(model)); }

Measurement read_ms(const BenchModel& model) {
  Latencies latencies;
  while (latencies.more()) {
    const Stopwatch watch;
    (void)model.read().value();
    latencies.add(watch.us() / 1000);
  }
  return latencies.result();
}

/// Frames of so many streams in turn, each with a state of its own; a sample is a round of all.
template <class Run>
Measurement streams(Run run) {
  constexpr std::size_t count = 200;
  const auto audio = silero().make_inputs();
  Latencies latencies;
  for (std::size_t round = 0; latencies.more(); ++round) {
    const Stopwatch watch;
    for (std::size_t stream = 0; stream < count; ++stream)
      run(stream, audio[(round + stream) % audio.size()]);
    latencies.add(watch.us());
  }
  Measurement result = latencies.result();
  const auto in_real_time = [](double us) { return frame_seconds * 1e6 * count / us; };
  result.value = result.p50 = in_real_time(result.p50);
  result.p99 = in_real_time(result.p99);
  result.p999 = in_real_time(result.p999);
  return result;
}

Measurement native_streams() {
  OurModel first(silero(), "native");
  std::vector<rk::PreparedCall> calls;
  for (std::size_t i = 0; i < 200; ++i)
    calls.push_back(first.function().instance({.in_flight_max = 1}).value().prepare().value());
  return streams([&](std::size_t stream, const std::vector<float>& audio) {
    (void)calls[stream].call({audio}).value();
  });
}

Measurement ort_streams() {
  OrtModel theirs(silero());
  const std::span<float> state = theirs.state();
  std::vector<std::vector<float>> states(200, std::vector<float>(state.size()));
  return streams([&](std::size_t stream, const std::vector<float>& audio) {
    std::ranges::copy(states[stream], state.begin());
    (void)theirs.run(audio);
    std::ranges::copy(state, states[stream].begin());
  });
}

Measurement largest_error(const BenchModel& model, const char* backend) {
  OurModel ours(model, backend);
  OrtModel theirs(model);
  double worst = 0;
  for (std::size_t number = 0; number < 200; ++number) {
    const std::vector<float> input = model.make_input(number);
    const std::span<const float> a = ours.run(input), b = theirs.run(input);
    if (a.size() != b.size()) throw std::runtime_error("a result of the wrong size");
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double error = std::abs(static_cast<double>(a[i]) - b[i]);
      if (!std::isfinite(error)) throw std::runtime_error("a result that is no number");
      worst = std::max(worst, error / (1e-5 + 1e-5 * std::abs(b[i])));
    }
  }
  return {worst, worst, worst, worst, 200};
}

const std::vector<Case> cases_of_models = {
    {"silero_native", "us", [] { return ours_us(silero(), "native"); }},
    {"silero_pocl", "us", [] { return ours_us(silero(), "opencl"); }},
    {"silero_ort", "us", [] { return ort_us(silero()); }},
    {"silero_read", "ms", [] { return read_ms(silero()); }},
    {"silero_streams_native", "streams", native_streams},
    {"silero_streams_ort", "streams", ort_streams},
    {"silero_error_native", "of 1e-5", [] { return largest_error(silero(), "native"); }},
    {"silero_error_pocl", "of 1e-5", [] { return largest_error(silero(), "opencl"); }},
    {"mlp_native", "us", [] { return ours_us(mlp(), "native"); }},
    {"mlp_pocl", "us", [] { return ours_us(mlp(), "opencl"); }},
    {"mlp_ort", "us", [] { return ort_us(bare_mlp()); }},
    {"mlp_ort_label", "us", [] { return ort_us(mlp()); }},
    {"mlp_error_native", "of 1e-5", [] { return largest_error(mlp(), "native"); }},
    {"mlp_error_pocl", "of 1e-5", [] { return largest_error(mlp(), "opencl"); }},
};

const std::vector<std::string_view> mlp_baselines = {"mlp_ort", "mlp_ort_label"};

const std::vector<Figure> figures_of_models = {
    {"silero_native_vs_ort", "x", Better::higher, 1.6, "silero_native", {"silero_ort"}},
    {"silero_pocl_vs_ort", "x", Better::higher, 1.4, "silero_pocl", {"silero_ort"}},
    {"silero_error_native", "of 1e-5", Better::lower, 1, "silero_error_native"},
    {"silero_error_pocl", "of 1e-5", Better::lower, 1, "silero_error_pocl"},
    {"mlp_native_vs_ort", "x", Better::higher, 3, "mlp_native", mlp_baselines},
    {"mlp_pocl_vs_ort", "x", Better::higher, 2, "mlp_pocl", mlp_baselines},
    {"mlp_error_native", "of 1e-5", Better::lower, 1, "mlp_error_native"},
    {"mlp_error_pocl", "of 1e-5", Better::lower, 1, "mlp_error_pocl"},
    {"onnx_read_silero_ms", "ms", Better::lower, 5, "silero_read"},
    {"streams_realtime_one_core",
     "streams",
     Better::higher,
     Figure::no_bar,
     "silero_streams_native",
     {"silero_streams_ort"}},
};

}  // namespace

std::span<const Case> model_cases() { return cases_of_models; }
std::span<const Figure> model_figures() { return figures_of_models; }

}  // namespace bench
