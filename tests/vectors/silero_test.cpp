// A real model, with the state that it keeps: Silero VAD (MIT), which `rk` fetches. What
// onnxruntime 1.32.0 answers for the voice of examples/vad is written down here.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "../../examples/vad/voice.hpp"
#include "ringkernel/onnx.hpp"
#include "support/backends.hpp"

namespace ringkernel::onnx {
namespace {

class SileroOn : public ringkernel::test::OnEachBackend {
 protected:
  void SetUp() override {
    OnEachBackend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const char* const path = std::getenv("RINGKERNEL_SILERO");
    if (path == nullptr || *path == '\0')
      RK_SKIP_WITHOUT("models", "RINGKERNEL_SILERO names no model");
    path_ = path;
  }
  std::string path_;
};
INSTANTIATE_TEST_SUITE_P(Backends, SileroOn, ::testing::ValuesIn(ringkernel::test::backend_names()),
                         ringkernel::test::backend_label);

struct Heard {
  std::size_t frame;
  float probability;
};
constexpr Heard from_onnxruntime[] = {{0, 0.31579095f},  {1, 0.73915017f},  {10, 0.99827313f},
                                      {20, 0.99503034f}, {30, 0.85601616f}, {40, 0.16920578f},
                                      {50, 0.00485507f}, {60, 0.00353417f}, {70, 0.08649716f},
                                      {80, 0.91160023f}, {90, 0.92624462f}, {100, 0.07567298f}};

TEST_P(SileroOn, HearsWhatOnnxruntimeHears) {
  constexpr std::size_t before = 64, frame = 512;
  const auto model = read_file(
      path_, {.inputs = {{"input", {1, before + frame}}}, .state = {{"h", "hn"}, {"c", "cn"}}});
  ASSERT_TRUE(model) << model.error().text();
  auto runtime = open();
  const CompiledFunction first = runtime.compile(*model).value();
  const CompiledFunction second = first.instance().value();
  std::vector<float> voice(before);  // silence before the first frame
  const std::vector<float> computed = vad::make_voice(4);
  voice.insert(voice.end(), computed.begin(), computed.end());
  const auto* next = std::begin(from_onnxruntime);
  for (std::size_t number = 0; next != std::end(from_onnxruntime); ++number) {
    const std::span<const float> audio(voice.data() + number * frame, before + frame);
    const auto result = first.execute(audio);
    ASSERT_TRUE(result) << result.error().text();
    // The other one hears every second frame only, and disturbs nobody.
    if (number % 2 == 0) {
      ASSERT_TRUE(second.execute(audio));
    }
    if (number != next->frame) continue;
    EXPECT_NEAR(result->elements<float>(0)[0], next->probability, 2e-5) << "frame " << number;
    ++next;
  }
}

/// A second of a slow wave at 8 kHz, which our rate has twice as many samples of.
TEST(Clip, IsReadAtOurRate) {
  const std::string path = ::testing::TempDir() + "clip.wav";
  std::string wav("RIFF....WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data", 40);
  wav += std::string("\x80\x3e\0\0", 4);
  for (int i = 0; i < 8000; ++i) {
    const auto sample = static_cast<std::int16_t>(16'384 * std::sin(i / 8000.0 * 6.283185307));
    wav.append(reinterpret_cast<const char*>(&sample), sizeof sample);
  }
  const auto read_back = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return vad::read_wav(path);
  };
  const auto clip = read_back(wav);
  ASSERT_TRUE(clip) << clip.error().text();
  ASSERT_NEAR(static_cast<double>(clip->size()), 16'000, 2);
  EXPECT_NEAR((*clip)[4000], 0.5, 1e-3);
  EXPECT_NEAR((*clip)[12'001], -0.5, 1e-3);
  std::string stereo = wav;
  stereo[22] = 2;
  EXPECT_THAT(read_back(stereo).error().text(), ::testing::HasSubstr("other samples than 16 bits"));
  for (std::size_t size = 0; size < 60; ++size) (void)read_back(wav.substr(0, size));
  EXPECT_TRUE(read_back("no clip").has_error());
  std::remove(path.c_str());
}

}  // namespace
}  // namespace ringkernel::onnx
