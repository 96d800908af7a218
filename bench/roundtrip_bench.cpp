// roundtrip_bench: what a message to a resident kernel and back costs, beside what it replaces.
#include "figure_main.hpp"

int main(int argument_count, char** arguments) {
  return bench::figure_main(argument_count, arguments,
                            "Round trips to resident kernels, with baselines in the same run",
                            bench::roundtrip_figures());
}
