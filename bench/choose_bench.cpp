// choose_bench: which tool for which work.
#include "choose_cases.hpp"
#include "figure_main.hpp"

int main(int argument_count, char** arguments) {
  return bench::figure_main(argument_count, arguments,
                            "Which tool for which work: loops, onnxruntime, OpenCL, ringkernel",
                            bench::choose_figures(), bench::render_choice);
}
