#include "voice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numbers>

namespace vad {
namespace {

struct Formant {
  double hertz;
  double width;
};
constexpr std::array<std::array<Formant, 3>, 3> vowels{
    {{{{700, 90}, {1100, 110}, {2400, 170}}},   // a
     {{{300, 90}, {2200, 110}, {2900, 170}}},   // i
     {{{350, 90}, {800, 110}, {2300, 170}}}}};  // u

constexpr double circle = 2 * std::numbers::pi;

/// Little endian.
template <class T>
T number_at(const std::vector<char>& bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Between neighbours in a straight line.
std::vector<float> at_our_rate(const std::vector<float>& samples, double rate) {
  std::vector<float> result;
  for (double at = 0; at + 1 < static_cast<double>(samples.size());
       at += rate / samples_per_second) {
    const auto before = static_cast<std::size_t>(at);
    const auto share = static_cast<float>(at - std::floor(at));
    result.push_back(samples[before] * (1 - share) + samples[before + 1] * share);
  }
  return result;
}

}  // namespace

std::vector<float> make_voice(double seconds) {
  constexpr int harmonics = 29;
  std::vector<float> samples(static_cast<std::size_t>(seconds * samples_per_second));
  std::uint32_t noise = 1;
  double phase = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / samples_per_second;
    const double pitch = 120 + 20 * std::sin(circle * 3 * t);
    phase += circle * pitch / samples_per_second;
    double sum = 0;
    for (int k = 1; k <= harmonics; ++k) {
      double loudness = 0;
      for (const Formant& formant : vowels[static_cast<std::size_t>(4 * t) % vowels.size()]) {
        const double distance = (k * pitch - formant.hertz) / formant.width;
        loudness += 1 / (1 + distance * distance);
      }
      sum += loudness * std::sin(k * phase) / std::pow(k, 0.3);
    }
    const double syllable = std::sqrt(std::abs(std::sin(circle * 2 * t)));
    const bool pauses = std::fmod(t, 2) >= 1.2;
    noise = noise * 1664525u + 1013904223u;
    const double hiss = static_cast<double>(noise >> 16) / 65536 - 0.5;
    samples[i] = static_cast<float>((pauses ? 0 : 0.25 * sum * syllable) + 0.01 * hiss);
  }
  return samples;
}

ringkernel::Result<std::vector<float>> read_wav(const std::string& path) {
  const auto refusal = [&](const char* why) {
    return ringkernel::Error(ringkernel::Errc::invalid_argument, "'" + path + "' " + why);
  };
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "RIFF", 4) != 0 ||
      std::memcmp(bytes.data() + 8, "WAVE", 4) != 0)
    return refusal("is no WAV file that can be read");
  double rate = 0;
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::size_t begin = at + 8;
    const std::size_t size =
        std::min<std::size_t>(number_at<std::uint32_t>(bytes, at + 4), bytes.size() - begin);
    if (std::memcmp(bytes.data() + at, "fmt ", 4) == 0 && size >= 16) {
      const bool fits = number_at<std::uint16_t>(bytes, begin) == 1 &&
                        number_at<std::uint16_t>(bytes, begin + 2) == 1 &&
                        number_at<std::uint16_t>(bytes, begin + 14) == 16;
      if (!fits) return refusal("has other samples than 16 bits of one channel");
      rate = number_at<std::uint32_t>(bytes, begin + 4);
    }
    if (std::memcmp(bytes.data() + at, "data", 4) == 0) {
      if (rate < 1000) return refusal("says no rate before its samples");
      if (size < 4) return refusal("has no samples");
      std::vector<float> samples(size / 2);
      for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = static_cast<float>(number_at<std::int16_t>(bytes, begin + 2 * i)) / 32768;
      return at_our_rate(samples, rate);
    }
    at = begin + size + size % 2;
  }
  return refusal("has no samples");
}

}  // namespace vad
