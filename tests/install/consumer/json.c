/* What a user of the installed C interfaces writes who calls a program in JSON. */
#include <stdio.h>
#include <string.h>

#include "ringkernel/ringkernel_json.h"

static const char schema_text[] =
    "attribute \"state_of\";\n"
    "table Step { by: ulong; }\n"
    "table Sum { value: ulong; }\n"
    "struct CounterState (state_of: \"Counter\") { value: ulong; }\n"
    "rpc_service Counter { Add(Step): Sum; }\n";

static const char handlers[] =
    "#include \"counter.rk.h\"\n"
    "RK_ON(Counter, Add) {\n"
    "  state->value += Step_by(request);\n"
    "  reply->value = state->value;\n"
    "  return RK_OK;\n"
    "}\n";

static int fail(const char* text) {
  printf("%s\n", text);
  return 1;
}

int main(void) {
  ringkernel_runtime* runtime = NULL;
  ringkernel_kernel* kernel = NULL;
  ringkernel_json* json = NULL;
  const char* sum = NULL;
  ringkernel_bytes schema = {0};
  ringkernel_runtime_options options = {.struct_size = sizeof options, .backend = "native"};
  if (ringkernel_json_schema("counter.fbs", schema_text, &schema) != RINGKERNEL_OK)
    return fail(ringkernel_json_last_error());
  const ringkernel_program program = {.struct_size = sizeof program,
                                      .name = "counter",
                                      .source_name = "counter.rk.cl",
                                      .source = handlers,
                                      .schema_name = "counter.fbs",
                                      .schema = schema.data,
                                      .schema_bytes = schema.data_bytes};
  const ringkernel_kernel_options of_counter = {.struct_size = sizeof of_counter,
                                                .program = "counter"};
  if (ringkernel_runtime_open(&options, &runtime) != RINGKERNEL_OK ||
      ringkernel_program_add(runtime, &program) != RINGKERNEL_OK ||
      ringkernel_kernel_launch(runtime, "counter", &of_counter, &kernel) != RINGKERNEL_OK ||
      ringkernel_kernel_activate(kernel) != RINGKERNEL_OK)
    return fail(ringkernel_last_error());
  if (ringkernel_json_open(kernel, &json) != RINGKERNEL_OK ||
      ringkernel_json_call(json, kernel, "Add", "{\"by\": 21}", 0, &sum) != RINGKERNEL_OK)
    return fail(ringkernel_json_last_error());
  const int is_right = strcmp(sum, "{\"value\": 21}") == 0;
  printf("C, in JSON: %s\n", is_right ? "right" : sum);
  ringkernel_json_close(json);
  return ringkernel_runtime_close(runtime) == RINGKERNEL_OK && is_right ? 0 : 1;
}
