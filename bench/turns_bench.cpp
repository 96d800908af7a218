// turns_bench: how long a short call waits beside the long ops of another ring kernel on the same
// executor, and what its turns cost those.
#include "figure_main.hpp"

int main(int argument_count, char** arguments) {
  return bench::figure_main(argument_count, arguments,
                            "Short calls beside long ops of another ring kernel",
                            bench::turns_figures());
}
