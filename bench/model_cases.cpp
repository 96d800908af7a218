#include "model_cases.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "figures.hpp"
#include "onnxruntime.hpp"
#include "ringkernel/onnx.hpp"
#include "ringkernel/ringkernel.hpp"

namespace bench {
namespace {

namespace rk = ringkernel;

constexpr std::size_t samples = 576;  // 64 of the frame before, and 512 new ones
constexpr std::size_t hidden = 128;
constexpr double frame_seconds = 512.0 / 16'000;

std::string silero_path() {
  const char* const path = std::getenv("RINGKERNEL_SILERO");
  if (path == nullptr || *path == '\0')
    throw std::runtime_error("RINGKERNEL_SILERO names no model; ./rk bench models fetches it");
  return path;
}

/// A tone that comes and goes, with noise.
std::vector<float> frame(std::size_t number) {
  std::vector<float> audio(samples);
  std::uint32_t noise = static_cast<std::uint32_t>(number) * 2654435761u + 1;
  for (std::size_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(number * 512 + i) / 16'000;
    noise = noise * 1664525u + 1013904223u;
    const double hiss = static_cast<double>(noise >> 16) / 65536 - 0.5;
    audio[i] = static_cast<float>(0.4 * std::sin(6.28 * 180 * t) * std::sin(6.28 * 2 * t) *
                                      std::sin(6.28 * 700 * t) +
                                  0.02 * hiss);
  }
  return audio;
}

std::vector<std::vector<float>> frames() {
  std::vector<std::vector<float>> all;
  for (std::size_t number = 0; number < 64; ++number) all.push_back(frame(number));
  return all;
}

rk::Result<rk::Graph> read_silero() {
  return rk::onnx::read_file(
      silero_path(), {.inputs = {{"input", {1, samples}}}, .state = {{"h", "hn"}, {"c", "cn"}}});
}

class OurSilero {
 public:
  explicit OurSilero(const char* backend)
      : runtime_(rk::RingKernelRuntime::builder()
                     .backend(backend)
                     .options(rk::RuntimeOptions::low_latency())
                     .build()
                     .value()),
        function_(runtime_.compile(read_silero().value(), {.in_flight_max = 1}).value()),
        call_(function_.prepare().value()) {}

  float run(const std::vector<float>& audio) {
    return call_.call({audio}).value().elements<float>(0)[0];
  }
  rk::CompiledFunction& function() { return function_; }

 private:
  rk::RingKernelRuntime runtime_;
  rk::CompiledFunction function_;
  rk::PreparedCall call_;
};

class OrtSilero {
 public:
  OrtSilero() {
    std::ifstream file(silero_path(), std::ios::binary);
    model_.assign(std::istreambuf_iterator<char>(file), {});
    session_ =
        std::make_unique<OnnxSession>(model_,
                                      std::vector<OnnxPlace>{{"input", {1, samples}, audio_},
                                                             {"h", {1, 1, hidden}, state_[0]},
                                                             {"c", {1, 1, hidden}, state_[1]}},
                                      std::vector<OnnxPlace>{{"speech_probs", {1}, probability_},
                                                             {"hn", {1, 1, hidden}, next_[0]},
                                                             {"cn", {1, 1, hidden}, next_[1]}});
  }
  float run(const std::vector<float>& audio) {
    std::ranges::copy(audio, audio_.begin());
    session_->run();
    state_ = next_;
    return probability_[0];
  }
  using State = std::array<std::array<float, hidden>, 2>;
  State& state() { return state_; }

 private:
  std::vector<char> model_;
  std::array<float, samples> audio_{};
  State state_{}, next_{};
  std::array<float, 1> probability_{};
  std::unique_ptr<OnnxSession> session_;
};

template <class Silero>
Measurement frame_us(Silero&& silero) {
  const auto audio = frames();
  Latencies latencies;
  for (std::size_t i = 0; latencies.more(); ++i) {
    const Stopwatch watch;
    (void)silero.run(audio[i % audio.size()]);
    latencies.add(watch.us());
  }
  return latencies.result();
}

Measurement read_ms() {
  Latencies latencies;
  while (latencies.more()) {
    const Stopwatch watch;
    (void)read_silero().value();
    latencies.add(watch.us() / 1000);
  }
  return latencies.result();
}

/// Frames of so many streams in turn, each with a state of its own; a sample is a round of all.
template <class Run>
Measurement streams(Run run) {
  constexpr std::size_t count = 200;
  const auto audio = frames();
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
  OurSilero first("native");
  std::vector<rk::PreparedCall> calls;
  for (std::size_t i = 0; i < 200; ++i)
    calls.push_back(first.function().instance({.in_flight_max = 1}).value().prepare().value());
  return streams([&](std::size_t stream, const std::vector<float>& audio) {
    (void)calls[stream].call({audio}).value();
  });
}

Measurement ort_streams() {
  OrtSilero silero;
  std::vector<OrtSilero::State> states(200);
  return streams([&](std::size_t stream, const std::vector<float>& audio) {
    silero.state() = states[stream];
    (void)silero.run(audio);
    states[stream] = silero.state();
  });
}

Measurement largest_error(const char* backend) {
  OurSilero ours(backend);
  OrtSilero theirs;
  double worst = 0;
  for (std::size_t number = 0; number < 200; ++number) {
    const std::vector<float> audio = frame(number);
    const double a = ours.run(audio);
    const double b = theirs.run(audio);
    worst = std::max(worst, std::abs(a - b) / (1e-5 + 1e-5 * std::abs(b)));
  }
  return {worst, worst, worst, worst, 200};
}

const std::vector<Case> cases_of_models = {
    {"silero_native", "us", [] { return frame_us(OurSilero("native")); }},
    {"silero_pocl", "us", [] { return frame_us(OurSilero("opencl")); }},
    {"silero_ort", "us", [] { return frame_us(OrtSilero()); }},
    {"silero_read", "ms", read_ms},
    {"silero_streams_native", "streams", native_streams},
    {"silero_streams_ort", "streams", ort_streams},
    {"silero_error_native", "of 1e-5", [] { return largest_error("native"); }},
    {"silero_error_pocl", "of 1e-5", [] { return largest_error("opencl"); }},
};

const std::vector<Figure> figures_of_models = {
    {"silero_native_vs_ort", "x", Better::higher, 1.6, "silero_native", {"silero_ort"}},
    {"silero_pocl_vs_ort", "x", Better::higher, 1.4, "silero_pocl", {"silero_ort"}},
    {"silero_error_native", "of 1e-5", Better::lower, 1, "silero_error_native"},
    {"silero_error_pocl", "of 1e-5", Better::lower, 1, "silero_error_pocl"},
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
