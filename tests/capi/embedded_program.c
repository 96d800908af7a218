/* Programs that ringkernel_add_program has put into libraries for C, where there is no compiler:
   one with a schema, and one of bytes that literals do not like. */
#include <stdio.h>
#include <string.h>

#include "c_quotes_program.h"
#include "c_shop_program.h"
#include "ringkernel/ringkernel.h"

static int ended_well(ringkernel_status status, const char* what) {
  if (status != RINGKERNEL_OK) printf("%s: %s\n", what, ringkernel_last_error());
  return status == RINGKERNEL_OK;
}

static ringkernel_kernel* launch(ringkernel_runtime* runtime, ringkernel_program program,
                                 const char* behaviour) {
  ringkernel_kernel_options options = {
      .struct_size = sizeof options, .program = program.name, .behaviour = behaviour};
  ringkernel_kernel* kernel = NULL;
  if (!ended_well(ringkernel_program_add(runtime, &program), "add") ||
      !ended_well(ringkernel_kernel_launch(runtime, program.name, &options, &kernel), "launch") ||
      !ended_well(ringkernel_kernel_activate(kernel), "activate"))
    return NULL;
  return kernel;
}

static int quotes(ringkernel_runtime* runtime) {
  static const char expected[] = ")rk_source\"\\;";
  char room[64];
  const ringkernel_bytes message = {.data = room, .data_bytes = 1};
  ringkernel_bytes reply = {.data = room, .data_bytes = sizeof room};
  room[0] = 1;
  ringkernel_kernel* const kernel = launch(runtime, c_quotes_program(), NULL);
  return kernel != NULL && ended_well(ringkernel_call_bytes(kernel, &message, 0, &reply), "call") &&
         reply.data_bytes == sizeof expected - 1 && memcmp(room, expected, reply.data_bytes) == 0;
}

static int shop(ringkernel_runtime* runtime) {
  /* The smallest table: a root, an empty vtable, a table without fields. */
  static const unsigned char empty[] = {8, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0, 0};
  unsigned char copy[sizeof empty];
  unsigned char room[512];
  ringkernel_method method;
  const ringkernel_bytes request = {.data = copy, .data_bytes = sizeof copy};
  ringkernel_bytes reply = {.data = room, .data_bytes = sizeof room};
  memcpy(copy, empty, sizeof empty);
  ringkernel_kernel* const kernel = launch(runtime, c_shop_program(), "Till");
  return kernel != NULL &&
         ended_well(ringkernel_kernel_method(kernel, "Total", &method), "Total") &&
         ended_well(ringkernel_call_method(kernel, &method, &request, 0, &reply), "call") &&
         ringkernel_last_version() == 1;
}

int main(void) {
  ringkernel_runtime_options options = {.struct_size = sizeof options, .backend = "native"};
  ringkernel_runtime* runtime = NULL;
  if (!ended_well(ringkernel_runtime_open(&options, &runtime), "open")) return 1;
  const int quoted = quotes(runtime);
  const int counted = shop(runtime);
  printf("quotes: %s, shop: %s\n", quoted ? "right" : "wrong", counted ? "right" : "wrong");
  return ringkernel_runtime_close(runtime) == RINGKERNEL_OK && quoted && counted ? 0 : 1;
}
