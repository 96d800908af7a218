// strategies_bench: what each way of reaching the device costs, by size of the message.
#include "figure_main.hpp"

int main(int argument_count, char** arguments) {
  return bench::figure_main(argument_count, arguments,
                            "Round trips and batches by transfer strategy and payload, beside "
                            "plain OpenCL in the same run",
                            bench::strategy_figures());
}
