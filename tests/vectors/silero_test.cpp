// A real model, with the state that it keeps: Silero VAD (MIT), which `rk` fetches. What
// onnxruntime 1.32.0 answers for the voice of examples/vad is written down here.
#include <gmock/gmock.h>

#include <cstdlib>

#include "../../examples/vad/voice.hpp"
#include "ringkernel/onnx.hpp"
#include "support/backends.hpp"

namespace ringkernel::onnx {
namespace {

class SileroOn : public test::OnEachBackend {
 protected:
  void SetUp() override {
    const char* const path = std::getenv("RINGKERNEL_SILERO");
    if (path == nullptr || *path == '\0') GTEST_SKIP() << "RINGKERNEL_SILERO names no model";
    path_ = path;
  }
  std::string path_;
};
INSTANTIATE_TEST_SUITE_P(Backends, SileroOn, ::testing::ValuesIn(test::backend_names),
                         test::backend_label);

struct Known {
  std::size_t frame;
  float probability;
};
constexpr Known from_onnxruntime[] = {{0, 0.31579095f},  {1, 0.73915017f},  {10, 0.99827313f},
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
    if (number % 2 == 0) ASSERT_TRUE(second.execute(audio));
    if (number != next->frame) continue;
    EXPECT_NEAR(result->elements<float>(0)[0], next->probability, 2e-5) << "frame " << number;
    ++next;
  }
}

}  // namespace
}  // namespace ringkernel::onnx
