// telemetry_bench: what it costs a service that its figures can be read, and that they are.
#include "figure_main.hpp"

int main(int argument_count, char** arguments) {
  return bench::figure_main(argument_count, arguments,
                            "What telemetry and its readers cost, in pairs of short windows",
                            bench::telemetry_figures());
}
