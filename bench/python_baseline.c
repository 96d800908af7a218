/* What a call costs in C: for each line on its input, one line with the nanoseconds of a call,
 * `add` on 16 floats, native backend (bench/python_bench.py): `ringkernel_call`, or with the
 * argument `prepared`, `ringkernel_prepared_call`. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ringkernel/ringkernel_async.h"

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

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  const int is_prepared = strcmp(how, "prepared") == 0, is_async = strcmp(how, "async") == 0;
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
  ringkernel_prepared* prepared = NULL;
  if (ringkernel_kernel_prepare(kernel, &request, &prepared) != 0) return failed();
  ringkernel_queue* queue = NULL;
  ringkernel_completion completion = {.struct_size = sizeof completion};
  if (ringkernel_queue_open(&queue) != 0) return failed();
  while (getchar() != EOF) {
    const double begin_ns = now_ns();
    for (int call = 0; call < calls; ++call) {
      ringkernel_tensor result = {.data = sum, .data_bytes = sizeof sum};
      ringkernel_status status =
          is_async      ? ringkernel_call_async(kernel, &request, NULL, queue, 1, &result)
          : is_prepared ? ringkernel_prepared_call(prepared, operands, 2, 0, &result, 1)
                        : ringkernel_call(kernel, &request, 0, &result);
      if (status == 0 && is_async) status = ringkernel_queue_next(queue, UINT64_MAX, &completion);
      if (status != 0 || completion.status != 0) return failed();
    }
    printf("%.1f\n", (now_ns() - begin_ns) / calls);
    fflush(stdout);
  }
  return ringkernel_runtime_close(runtime) != 0 ? failed() : 0;
}
