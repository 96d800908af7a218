// idle_bench: what waiting costs, in latency behind a pause and in processor time, and what is left
// of the latency where there are more busy programs than cores.
#include "figure_main.hpp"

int main(int argument_count, char** arguments) {
  return bench::figure_main(argument_count, arguments,
                            "Wake-ups and processor time over park_after, and eight busy programs",
                            bench::idle_figures());
}
