/* What a user of the installed C interfaces writes who has a program of their own. */
#include <stdio.h>

#include "c_counter_program.h"
#include "ringkernel/ringkernel.h"

static ringkernel_status run(ringkernel_runtime* runtime, ringkernel_method* method) {
  const ringkernel_program program = c_counter_program();
  const ringkernel_kernel_options options = {.struct_size = sizeof options,
                                             .program = program.name};
  ringkernel_kernel* kernel = NULL;
  ringkernel_status status = ringkernel_program_add(runtime, &program);
  if (status == RINGKERNEL_OK)
    status = ringkernel_kernel_launch(runtime, "counter", &options, &kernel);
  if (status == RINGKERNEL_OK) status = ringkernel_kernel_method(kernel, "Add", method);
  return status;
}

int main(void) {
  const ringkernel_runtime_options options = {.struct_size = sizeof options, .backend = "native"};
  ringkernel_runtime* runtime = NULL;
  ringkernel_method method = {.id = 0, .reply_bytes = 0};
  ringkernel_status status = ringkernel_runtime_open(&options, &runtime);
  if (status == RINGKERNEL_OK) status = run(runtime, &method);
  printf("C, a program: %s\n", status == RINGKERNEL_OK ? "right" : ringkernel_last_error());
  (void)ringkernel_runtime_close(runtime);
  return status == RINGKERNEL_OK && method.reply_bytes != 0 ? 0 : 1;
}
