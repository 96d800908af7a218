// Voice activity detection for many live streams: each stream is a ring kernel of one model, and
// keeps the state of its recurrent network on the device. One thread serves them all.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "plot.hpp"
#include "ringkernel/onnx.hpp"
#include "ringkernel/ringkernel.hpp"
#include "voice.hpp"

namespace rk = ringkernel;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t new_samples = 512;  // of a frame: 32 ms
constexpr std::size_t old_samples = 64;   // of the frame before, which the model wants as well
constexpr auto frame_time = std::chrono::milliseconds(32);
constexpr float speech = 0.5f;
constexpr int rows_max = 12;

struct Arguments {
  std::string model;
  std::size_t streams = 100;
  double seconds = 8;
  std::string wav;
  std::string svg;
};

/// Somebody who talks: the clip, again and again, from a place of their own.
class Stream {
 public:
  Stream(rk::PreparedCall call, const std::vector<float>& clip, std::size_t start)
      : call_(std::move(call)), clip_(clip), at_(start % clip.size()) {}

  rk::Result<float> next() {
    std::copy(frame_.end() - old_samples, frame_.end(), frame_.begin());
    for (auto sample = frame_.begin() + old_samples; sample != frame_.end(); ++sample) {
      *sample = clip_[at_];
      at_ = (at_ + 1) % clip_.size();
    }
    RK_TRY(result, call_.call({frame_}));
    probability_ = result.elements<float>(0)[0];
    return probability_;
  }
  [[nodiscard]] float probability() const { return probability_; }

 private:
  rk::PreparedCall call_;
  const std::vector<float>& clip_;
  std::size_t at_;
  std::vector<float> frame_ = std::vector<float>(old_samples + new_samples);
  float probability_ = 0;
};

void draw(const std::vector<Stream>& streams, double second, bool again) {
  const int rows = static_cast<int>(std::min<std::size_t>(streams.size(), rows_max));
  if (again) std::printf("\033[%dA", rows + 1);
  const auto talking = std::ranges::count_if(
      streams, [](const Stream& stream) { return stream.probability() > speech; });
  std::printf("%5.1f s, %td of %zu streams speak\033[K\n", second, talking, streams.size());
  for (int row = 0; row < rows; ++row) {
    const float probability = streams[static_cast<std::size_t>(row)].probability();
    const std::string bar(static_cast<std::size_t>(40 * probability), '#');
    std::printf("  stream %2d  %4.2f  %-40s%s\033[K\n", row, static_cast<double>(probability),
                bar.c_str(), probability > speech ? " speech" : "");
  }
  std::fflush(stdout);
}

double quantile(std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

rk::Result<std::vector<Stream>> open_streams(rk::RingKernelRuntime& runtime, const rk::Graph& model,
                                             const std::vector<float>& clip, std::size_t count) {
  const rk::FunctionOptions one_at_a_time{.in_flight_max = 1};
  RK_TRY(first, runtime.compile(model, one_at_a_time));
  std::vector<Stream> streams;
  for (std::size_t i = 0; i < count; ++i) {
    RK_TRY(instance,
           i == 0 ? rk::Result<rk::CompiledFunction>(first) : first.instance(one_at_a_time));
    RK_TRY(call, instance.prepare());
    streams.emplace_back(std::move(call), clip, i * 7919);
  }
  return streams;
}

rk::Result<void> run(const Arguments& arguments) {
  std::vector<float> clip = vad::make_voice(8);
  if (!arguments.wav.empty()) {
    RK_TRY(read, vad::read_wav(arguments.wav));
    clip = std::move(read);
  }
  RK_TRY(model, rk::onnx::read_file(arguments.model,
                                    {.inputs = {{"input", {1, old_samples + new_samples}}},
                                     .state = {{"h", "hn"}, {"c", "cn"}}}));
  RK_TRY(
      runtime,
      rk::RingKernelRuntime::builder().options({.arena_bytes = std::uint64_t{256} << 20}).build());
  const auto opening = Clock::now();
  RK_TRY(streams, open_streams(runtime, model, clip, arguments.streams));
  const std::chrono::duration<double, std::milli> opened = Clock::now() - opening;
  std::printf("%zu streams on %s, opened in %.0f ms\n", streams.size(),
              runtime.metrics().device.c_str(), opened.count());

  const bool is_live = isatty(STDOUT_FILENO) != 0;
  const auto ticks = static_cast<std::size_t>(arguments.seconds * 1000 / frame_time.count());
  std::vector<double> frames_us;
  std::vector<float> first_probabilities;
  std::chrono::nanoseconds busy{};
  std::size_t late = 0;
  const auto begin = Clock::now();
  for (std::size_t tick = 0; tick < ticks; ++tick) {
    std::this_thread::sleep_until(begin + tick * frame_time);  // when the next samples are there
    const auto start = Clock::now();
    for (Stream& stream : streams) {
      const auto before = Clock::now();
      RK_TRY_VOID(stream.next());
      frames_us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - before).count());
    }
    busy += Clock::now() - start;
    late += Clock::now() > begin + (tick + 1) * frame_time ? 1 : 0;
    first_probabilities.push_back(streams[0].probability());
    if (is_live && tick % 8 == 0) draw(streams, static_cast<double>(tick) * 0.032, tick != 0);
  }
  std::ranges::sort(frames_us);
  const double share =
      std::chrono::duration<double>(busy).count() /
      (static_cast<double>(ticks) * std::chrono::duration<double>(frame_time).count());
  std::printf("a frame of 32 ms takes %.1f us (p50), %.1f us (p99); %zu of %zu rounds were late\n",
              quantile(frames_us, 0.5), quantile(frames_us, 0.99), late, ticks);
  std::printf("%.1f %% of one core: it could serve %.0f streams in real time\n", 100 * share,
              static_cast<double>(streams.size()) / share);
  if (arguments.svg.empty()) return {};
  std::vector<float> heard;
  for (std::size_t i = 0; i < ticks * new_samples; ++i) heard.push_back(clip[i % clip.size()]);
  RK_TRY_VOID(vad::plot(arguments.svg, heard, first_probabilities, arguments.seconds));
  std::printf("%s shows stream 0\n", arguments.svg.c_str());
  return {};
}

}  // namespace

int main(int argument_count, char** values) {
  Arguments arguments;
  CLI::App app("Voice activity detection for many live streams, one ring kernel each");
  app.add_option("model", arguments.model, "silero_vad_16k_sequence.onnx")->required();
  app.add_option("--streams", arguments.streams, "how many, at once")->check(CLI::Range(1, 1000));
  app.add_option("--seconds", arguments.seconds, "how long")->check(CLI::Range(0.064, 3600.0));
  app.add_option("--wav", arguments.wav, "what they hear; default: a computed voice");
  app.add_option("--svg", arguments.svg, "draw stream 0 into this file");
  CLI11_PARSE(app, argument_count, values);
  const rk::Result<void> result = run(arguments);
  if (!result) std::fprintf(stderr, "vad: %s\n", result.error().text().c_str());
  return result ? 0 : 1;
}
