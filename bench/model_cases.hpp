/// The cases and figures of `models`: ONNX files of others, ours beside onnxruntime.
///
/// Threading: one thread.
/// Ownership: names live as long as the process.
/// Errors: std::runtime_error where a model or onnxruntime is not at hand.
#pragma once

#include <span>

#include "cases.hpp"

namespace bench {

/// Silero VAD, of the file that RINGKERNEL_SILERO names: a frame of 576 samples, with the state
/// that it keeps. `silero_native`, `silero_pocl`, `silero_ort` in us for a frame;
/// `silero_read` in ms; `silero_streams_native`, `silero_streams_ort`: how many streams of 16 kHz
/// one core serves in real time; `silero_error_native`, `silero_error_pocl`: the largest
/// |a - b| / (1e-5 + 1e-5 |b|) to onnxruntime over 200 frames.
[[nodiscard]] std::span<const Case> model_cases();

}  // namespace bench
