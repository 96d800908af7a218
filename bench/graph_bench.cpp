// graph_bench: what a network of small ops costs as one message, as many, and as launches.
#include "figure_main.hpp"

int main(int argument_count, char** arguments) {
  return bench::figure_main(argument_count, arguments,
                            "A network of 20 small ops, with baselines in the same run",
                            bench::graph_figures());
}
