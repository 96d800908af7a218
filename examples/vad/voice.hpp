/// Something to listen to: a clip from a file, or a voice that is computed.
///
/// Errors: invalid_argument with what is wrong with the file.
/// Units: samples at 16 kHz, from -1 to 1.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ringkernel/result.hpp"

namespace vad {

inline constexpr double samples_per_second = 16'000;

/// Three vowels in turn, of harmonics under three formants each; every two seconds 0.8 of a pause.
/// The same samples on every machine, but for the last bit.
[[nodiscard]] std::vector<float> make_voice(double seconds);

/// A WAV file of 16-bit samples, one channel, any rate: espeak-ng writes 22.05 kHz.
[[nodiscard]] ringkernel::Result<std::vector<float>> read_wav(const std::string& path);

}  // namespace vad
