/// The cases and figures of `models`: ONNX files of others, ours beside onnxruntime.
///
/// Threading: one thread.
/// Ownership: names live as long as the process.
/// Errors: std::runtime_error where a model or onnxruntime is not at hand.
#pragma once

#include <span>

#include "cases.hpp"

namespace bench {

/// Of each model `MODEL_native`, `MODEL_ort` in us for a run, of the first two `MODEL_pocl`, and
/// `MODEL_error_native`, `MODEL_error_pocl`: the largest |a - b| / (1e-5 + 1e-5 |b|) to onnxruntime
/// over 200 runs.
///
/// `silero`: Silero VAD, of the file that RINGKERNEL_SILERO names; a run is a frame of 576 samples,
/// with the state that it keeps. Also `silero_read` in ms; `silero_streams_native`,
/// `silero_streams_ort`: how many streams of 16 kHz one core serves in real time.
///
/// `mlp`: scikit-learn's classifier of digits, of tests/vectors/models; a run is a row of 64
/// pixels. Also `mlp_ort_label`: onnxruntime with the file whole, of which it computes the label as
/// well.
///
/// `mlir`: the same classifier in MLIR, as torch-mlir writes it. `mlir_first` in ms: the read of a
/// process that loads MLIR; `mlir_read`: one of those after it; `mlir_mlp_native`,
/// `mlir_mlp_error`. Throws Absent where there is no MLIR.
///
/// `mobilenet`: which way up a line of text is, by PaddleOCR's MobileNetV3, of the file that
/// RINGKERNEL_MOBILENET names; a run is an image of 48 x 192 pixels.
///
/// `minilm16`: the meaning of a sentence of 16 tokens as 384 numbers, by the transformer of the
/// file that RINGKERNEL_MINILM names.
///
/// `magika`: what type a file has, by 2,048 bytes of it, of the file that RINGKERNEL_MAGIKA names.
[[nodiscard]] std::span<const Case> model_cases();

}  // namespace bench
