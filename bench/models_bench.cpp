// models_bench: models of others from ONNX files, beside onnxruntime.
#include "figure_main.hpp"

int main(int argument_count, char** arguments) {
  return bench::figure_main(argument_count, arguments,
                            "Models from ONNX files: ringkernel beside onnxruntime",
                            bench::model_figures());
}
