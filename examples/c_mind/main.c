/* The MIND runtime from C: a small layer, relu(x * w + b), and a sum by the text of its op. */
#include <stdio.h>
#include <stdlib.h>

#include "ringkernel/mind_runtime.h"

static void check(mind_status_t status) {
  if (status == MIND_STATUS_OK) return;
  fprintf(stderr, "c_mind: status %d, %s\n", (int)status, mind_runtime_last_error());
  exit(1);
}

static mind_tensor_t* tensor(mind_runtime_t* runtime, int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  mind_tensor_t* made = NULL;
  check(mind_tensor_alloc(runtime, MIND_DTYPE_F32, shape, 2, &made));
  return made;
}

static void print(mind_runtime_t* runtime, const char* what, mind_tensor_t* row) {
  float elements[3];
  check(mind_tensor_read_f32(runtime, row, elements, 3));
  printf("%s: %g %g %g\n", what, elements[0], elements[1], elements[2]);
}

int main(void) {
  const float x_elements[] = {1, 2};
  const float w_elements[] = {1, 2, 3, 4, 5, 6};
  const float b_elements[] = {-5, -2, -9};
  mind_runtime_t* runtime = NULL;
  check(mind_runtime_new(MIND_DEVICE_CPU, &runtime));

  mind_tensor_t* const x = tensor(runtime, 1, 2);
  mind_tensor_t* const w = tensor(runtime, 2, 3);
  mind_tensor_t* const b = tensor(runtime, 1, 3);
  mind_tensor_t* const out = tensor(runtime, 1, 3);
  check(mind_tensor_write_f32(runtime, x, x_elements, 2));
  check(mind_tensor_write_f32(runtime, w, w_elements, 6));
  check(mind_tensor_write_f32(runtime, b, b_elements, 3));

  mind_tensor_t* const x_and_w[] = {x, w};
  mind_tensor_t* const out_and_b[] = {out, b};
  check(mind_runtime_run_op(runtime, "matmul", x_and_w, 2, &out, 1));
  check(mind_runtime_run_op(runtime, "add", out_and_b, 2, &out, 1));
  check(mind_runtime_run_op(runtime, "relu", &out, 1, &out, 1));
  print(runtime, "scores", out);

  check(mind_runtime_run_op(runtime, "Sum(%0, [0], true)", &w, 1, &out, 1));
  print(runtime, "column sums", out);

  if (mind_runtime_run_op(runtime, "frobnicate", &w, 1, &out, 1) == MIND_STATUS_UNSUPPORTED)
    printf("refused: %s\n", mind_runtime_last_error());
  mind_runtime_free(runtime); /* and its tensors */
  return 0;
}
