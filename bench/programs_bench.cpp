// programs_bench: programs of a user's own, beside the built-in ones and beside a launch for each
// message.
#include "figure_main.hpp"

int main(int argument_count, char** arguments) {
  return bench::figure_main(argument_count, arguments,
                            "Programs of one's own, with baselines in the same run",
                            bench::program_figures());
}
