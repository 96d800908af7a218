/* What `ringkernel_call` costs in C: for each line on its input, one line with the nanoseconds of a
 * call, `add` on 16 floats, native backend (bench/python_bench.py). */
#include <stdio.h>
#include <time.h>

#include "ringkernel/ringkernel.h"

enum { calls = 100000, elements = 16 };

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int failed(void) {
  fprintf(stderr, "%s\n", ringkernel_last_error());
  return 1;
}

int main(void) {
  const ringkernel_runtime_options options = {.struct_size = sizeof options, .backend = "native"};
  ringkernel_runtime* runtime = NULL;
  ringkernel_kernel* kernel = NULL;
  if (ringkernel_runtime_open(&options, &runtime) != 0) return failed();
  if (ringkernel_kernel_launch(runtime, "adder", NULL, &kernel) != 0) return failed();
  if (ringkernel_kernel_activate(kernel) != 0) return failed();

  float a[elements] = {1}, b[elements] = {2}, sum[elements];
  const ringkernel_tensor operands[] = {
      {.dtype = RINGKERNEL_F32, .rank = 1, .dims = {elements}, .data = a, .data_bytes = sizeof a},
      {.dtype = RINGKERNEL_F32, .rank = 1, .dims = {elements}, .data = b, .data_bytes = sizeof b}};
  const ringkernel_request request = {
      .struct_size = sizeof request, .op = "add", .inputs = operands, .input_count = 2};
  while (getchar() != EOF) {
    const double begin_ns = now_ns();
    for (int call = 0; call < calls; ++call) {
      ringkernel_tensor result = {.data = sum, .data_bytes = sizeof sum};
      if (ringkernel_call(kernel, &request, 0, &result) != 0) return failed();
    }
    printf("%.1f\n", (now_ns() - begin_ns) / calls);
    fflush(stdout);
  }
  return ringkernel_runtime_close(runtime) != 0 ? failed() : 0;
}
