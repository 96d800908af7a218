#include "model_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench_model.hpp"
#include "figures.hpp"
#include "onnxruntime.hpp"
#include "ringkernel/mlir.hpp"
#include "ringkernel/onnx.hpp"
#include "ringkernel/ringkernel.hpp"

namespace bench {
namespace {

namespace rk = ringkernel;

constexpr double frame_seconds = 512.0 / 16'000;

std::vector<char> content_of(const std::string& name) {
  std::vector<char> content(std::filesystem::file_size(name));
  std::ifstream file(name, std::ios::binary);
  if (!file.read(content.data(), static_cast<std::streamsize>(content.size())))
    throw std::runtime_error("cannot read " + name);
  return content;
}

/// By its name an ONNX file, or MLIR.
rk::Result<rk::Graph> read(const BenchModel& model) {
  if (model.file.ends_with(".mlir")) {
    const std::vector<char> text = content_of(model.file);
    return rk::mlir::read({text.data(), text.size()});
  }
  rk::onnx::Options options{.outputs = {model.output.name}};
  for (const Port& input : model.inputs) options.inputs.emplace(input.name, input.dims);
  for (const KeptPort& kept : model.state) options.state.emplace(kept.before, kept.after);
  return rk::onnx::read_file(model.file, options);
}

class OurModel {
 public:
  OurModel(const BenchModel& model, const char* backend)
      : runtime_(rk::RingKernelRuntime::builder()
                     .backend(backend)
                     .options(rk::RuntimeOptions::low_latency())
                     .build()
                     .value()),
        function_(runtime_.compile(read(model).value(), {.in_flight_max = 1}).value()),
        call_(function_.prepare().value()) {}

  /// Valid until the next run.
  std::span<const float> run(const Operands& operands) {
    return call_.call(operands.views()).value().elements<float>();
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
      : bytes_(content_of(model.file)),
        inputs_(model.make_operands(0).values()),
        output_(model.output.size()) {
    std::vector<OnnxPlace> inputs;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      places_.push_back(place_in(inputs_[i]));
      inputs.push_back({model.inputs[i].name, model.inputs[i].dims, places_[i]});
    }
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
  std::span<const float> run(const Operands& operands) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const rk::Elements& from = operands.views()[i];
      std::memcpy(places_[i].data, from.data, from.count * rk::element_bytes(from.dtype));
    }
    session_->run();
    std::ranges::copy(next_, state_.begin());
    return output_;
  }
  /// All of it, one behind the other.
  std::span<float> state() { return state_; }

 private:
  std::vector<char> bytes_;
  std::vector<Values> inputs_;
  std::vector<rk::ElementsOut> places_;
  std::vector<float> output_, state_, next_;
  std::optional<OnnxSession> session_;
};

template <class Side>
Measurement run_us(const BenchModel& model, Side&& side) {
  const auto runs = model.make_runs();
  Latencies latencies;
  for (std::size_t number = 0; latencies.more();) {
    const Stopwatch watch;
    for (std::size_t i = 0; i < model.runs_per_sample; ++i)
      (void)side.run(runs[number++ % runs.size()]);
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
    (void)read(model).value();
    latencies.add(watch.us() / 1000);
  }
  return latencies.result();
}

/// Frames of so many streams in turn, each with a state of its own; a sample is a round of all.
template <class Run>
Measurement streams(Run run) {
  constexpr std::size_t count = 200;
  const auto audio = silero().make_runs();
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
  return streams([&](std::size_t stream, const Operands& audio) {
    (void)calls[stream].call(audio.views()).value();
  });
}

Measurement ort_streams() {
  OrtModel theirs(silero());
  const std::span<float> state = theirs.state();
  std::vector<std::vector<float>> states(200, std::vector<float>(state.size()));
  return streams([&](std::size_t stream, const Operands& audio) {
    std::ranges::copy(states[stream], state.begin());
    (void)theirs.run(audio);
    std::ranges::copy(state, states[stream].begin());
  });
}

/// `other`: what onnxruntime reads of the same model.
Measurement largest_error(const BenchModel& model, const char* backend, const BenchModel& other) {
  OurModel ours(model, backend);
  OrtModel theirs(other);
  constexpr std::size_t runs_compared = 200;
  double worst = 0;
  for (std::size_t number = 0; number < runs_compared; ++number) {
    const Operands operands = model.make_operands(number);
    const std::span<const float> a = ours.run(operands), b = theirs.run(operands);
    if (a.size() != b.size()) throw std::runtime_error("a result of the wrong size");
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double error = std::abs(static_cast<double>(a[i]) - b[i]);
      if (!std::isfinite(error)) throw std::runtime_error("a result that is no number");
      worst = std::max(worst, error / (1e-5 + 1e-5 * std::abs(b[i])));
    }
  }
  return {worst, worst, worst, worst, runs_compared};
}

Measurement largest_error(const BenchModel& model, const char* backend) {
  return largest_error(model, backend, model);
}

/// In MLIR. Throws Absent where there is none.
BenchModel mlp_of_mlir() {
  if (const auto library = rk::mlir::find_library(); !library) throw Absent(library.error().text());
  return mlir_mlp();
}

/// The one that loads MLIR: a case is a process.
Measurement first_read_ms() {
  const BenchModel model = mlir_mlp();
  const Stopwatch watch;
  const auto graph = read(model);
  const double ms = watch.us() / 1000;
  if (!graph) throw Absent(graph.error().text());
  return {ms, ms, ms, ms, 1};
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
    {"mlir_first", "ms", first_read_ms},
    {"mlir_read", "ms", [] { return read_ms(mlp_of_mlir()); }},
    {"mlir_mlp_native", "us", [] { return ours_us(mlp_of_mlir(), "native"); }},
    {"mlir_mlp_error", "of 1e-5",
     [] { return largest_error(mlp_of_mlir(), "native", bare_mlp()); }},
    {"mobilenet_native", "us", [] { return ours_us(mobilenet(), "native"); }},
    {"mobilenet_ort", "us", [] { return ort_us(mobilenet()); }},
    {"mobilenet_error_native", "of 1e-5", [] { return largest_error(mobilenet(), "native"); }},
    {"mobilenet_error_pocl", "of 1e-5", [] { return largest_error(mobilenet(), "opencl"); }},
    {"minilm16_native", "us", [] { return ours_us(minilm16(), "native"); }},
    {"minilm16_ort", "us", [] { return ort_us(minilm16()); }},
    {"minilm16_error_native", "of 1e-5", [] { return largest_error(minilm16(), "native"); }},
    {"minilm16_error_pocl", "of 1e-5", [] { return largest_error(minilm16(), "opencl"); }},
    {"magika_native", "us", [] { return ours_us(magika(), "native"); }},
    {"magika_ort", "us", [] { return ort_us(magika()); }},
    {"magika_error_native", "of 1e-5", [] { return largest_error(magika(), "native"); }},
    {"magika_error_pocl", "of 1e-5", [] { return largest_error(magika(), "opencl"); }},
};

const std::vector<std::string_view> mlp_baselines = {"mlp_ort", "mlp_ort_label"};

/// Says of figures why their models are not at hand.
std::vector<Figure> with_absences(std::vector<Figure> figures) {
  for (Figure& figure : figures) figure.absent = why_absent(figure.measured);
  return figures;
}

const std::vector<Figure> figures_of_models = with_absences({
    {"silero_native_vs_ort", "x", Better::higher, 1.6, "silero_native", {"silero_ort"}},
    {"silero_pocl_vs_ort", "x", Better::higher, 1.4, "silero_pocl", {"silero_ort"}},
    {"silero_error_native", "of 1e-5", Better::lower, 1, "silero_error_native"},
    {"silero_error_pocl", "of 1e-5", Better::lower, 1, "silero_error_pocl"},
    {"mlp_native_vs_ort", "x", Better::higher, 3, "mlp_native", mlp_baselines},
    {"mlp_pocl_vs_ort", "x", Better::higher, 2, "mlp_pocl", mlp_baselines},
    {"mlp_error_native", "of 1e-5", Better::lower, 1, "mlp_error_native"},
    {"mlp_error_pocl", "of 1e-5", Better::lower, 1, "mlp_error_pocl"},
    {"mlir_first_ms", "ms", Better::lower, 200, "mlir_first"},
    {"mlir_read_ms", "ms", Better::lower, 10, "mlir_read"},
    {"mlir_mlp_vs_ort", "x", Better::higher, Figure::no_bar, "mlir_mlp_native", {"mlp_ort"}},
    {"mlir_mlp_error", "of 1e-5", Better::lower, 1, "mlir_mlp_error"},
    {"mobilenet_vs_ort", "x", Better::higher, 0.8, "mobilenet_native", {"mobilenet_ort"}},
    {"mobilenet_error_native", "of 1e-5", Better::lower, 1, "mobilenet_error_native"},
    {"mobilenet_error_pocl", "of 1e-5", Better::lower, 1, "mobilenet_error_pocl"},
    {"minilm16_vs_ort", "x", Better::higher, 0.8, "minilm16_native", {"minilm16_ort"}},
    {"minilm16_error_native", "of 1e-5", Better::lower, 1, "minilm16_error_native"},
    {"minilm16_error_pocl", "of 1e-5", Better::lower, 1, "minilm16_error_pocl"},
    {"magika_vs_ort", "x", Better::higher, 0.7, "magika_native", {"magika_ort"}},
    {"magika_error_native", "of 1e-5", Better::lower, 1, "magika_error_native"},
    {"magika_error_pocl", "of 1e-5", Better::lower, 1, "magika_error_pocl"},
    {"onnx_read_silero_ms", "ms", Better::lower, 5, "silero_read"},
    {"streams_realtime_one_core",
     "streams",
     Better::higher,
     Figure::no_bar,
     "silero_streams_native",
     {"silero_streams_ort"}},
});

}  // namespace

std::span<const Case> model_cases() { return cases_of_models; }
std::span<const Figure> model_figures() { return figures_of_models; }

}  // namespace bench
