/* What a user of the installed C interfaces writes. */
#include <stdio.h>

#include "ringkernel/mind_runtime.h"
#include "ringkernel/ringkernel.h"

int main(void) {
  const int64_t shape[] = {4};
  float elements[] = {-1, 2, -3, 4};
  mind_runtime_t* runtime = NULL;
  mind_tensor_t* x = NULL;
  if (mind_runtime_new(MIND_DEVICE_CPU, &runtime) != MIND_STATUS_OK ||
      mind_tensor_alloc(runtime, MIND_DTYPE_F32, shape, 1, &x) != MIND_STATUS_OK ||
      mind_tensor_write_f32(runtime, x, elements, 4) != MIND_STATUS_OK ||
      mind_runtime_run_op(runtime, "relu", &x, 1, &x, 1) != MIND_STATUS_OK ||
      mind_tensor_read_f32(runtime, x, elements, 4) != MIND_STATUS_OK) {
    printf("%s\n", mind_runtime_last_error());
    return 1;
  }
  mind_runtime_free(runtime);
  const int is_right = elements[0] == 0 && elements[1] == 2 && elements[2] == 0 && elements[3] == 4;
  printf("C, version %s: %s\n", ringkernel_version(), is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}
