// async_bench: what an asynchronous request costs, beside the synchronous one in the same
// coroutine.
#include "figure_main.hpp"

int main(int argument_count, char** arguments) {
  return bench::figure_main(argument_count, arguments,
                            "Requests without waiting beside those that are waited for",
                            bench::async_figures());
}
