/// Functions and resident tensors for C: whole networks of ops that one message runs, and tensors
/// that stay on the device (docs/GRAPHS.md, docs/TENSORS.md, docs/ONNX.md, docs/MLIR.md).
///
///     ringkernel_function* scores;
///     ringkernel_function_compile_text(runtime, "scores", text, NULL, &scores);
///     ringkernel_execution execution = {.struct_size = sizeof execution, .inputs = &image,
///                                       .input_count = 1, .results = &result, .result_count = 1};
///     ringkernel_function_execute(scores, &execution);
///
/// Threading: every function from any thread, on shared handles too.
/// Ownership: as in ringkernel.h. Closing a runtime closes its functions and tensors.
/// Errors: as in ringkernel.h, with `ringkernel_last_error`.
/// Units: `_ns` nanoseconds, `_bytes` bytes; a timeout of zero is `call_timeout_ns`.
#ifndef RINGKERNEL_RINGKERNEL_GRAPH_H
#define RINGKERNEL_RINGKERNEL_GRAPH_H

#include "ringkernel/ringkernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A graph made ready on the device, with a ring kernel and states of its own.
typedef struct ringkernel_function ringkernel_function;

/// Of a compiled function; zeroed fields are defaults, those of `ringkernel_kernel_options`.
typedef struct ringkernel_function_options {
  size_t struct_size; /* sizeof(ringkernel_function_options) */
  uint32_t in_flight_max;
  uint32_t queue_max;
  uint64_t message_bytes_max; /* most that one message carries: the rings are made for it. More is
                                 message_too_large; 0: all inputs and outputs */
} ringkernel_function_options;

/// Extents of an input that the file leaves open.
typedef struct ringkernel_onnx_input {
  const char* name;
  uint32_t rank;
  uint32_t reserved; /* 0 */
  int64_t dims[RINGKERNEL_RANK_MAX];
} ringkernel_onnx_input;

/// A model in an ONNX file (docs/ONNX.md).
typedef struct ringkernel_onnx_model {
  size_t struct_size; /* sizeof(ringkernel_onnx_model) */
  const char* file;   /* its name; null: `data` has its content */
  const void* data;
  uint64_t data_bytes;
  const char* name; /* of the function; null: as the file calls it */
  const ringkernel_onnx_input* inputs;
  size_t input_count;
  const char* const* outputs; /* names of those wanted, in this order; null: all */
  size_t output_count;
  /// Inputs that the function keeps, and the outputs that they become for the next execution.
  const char* const* state_inputs;
  const char* const* state_outputs;
  size_t state_count;
} ringkernel_onnx_model;

/// How much a diagnostic matters; only an error refuses the model.
enum ringkernel_severity {
  RINGKERNEL_SEVERITY_ERROR = 0,
  RINGKERNEL_SEVERITY_WARNING = 1,
  RINGKERNEL_SEVERITY_NOTE = 2, /* to the diagnostic before it */
  RINGKERNEL_SEVERITY_REMARK = 3
};

/// What is said of a text, and of which place in it.
typedef struct ringkernel_diagnostic {
  size_t struct_size; /* as much as this library fills */
  int32_t severity;   /* enum ringkernel_severity */
  uint32_t line;      /* from 1 on; 0: not known */
  uint32_t column;    /* from 1 on; 0: not known */
  uint32_t reserved;  /* 0 */
  const char* file;   /* "": not known */
  const char* text;
} ringkernel_diagnostic;

/// The diagnostic and its texts are there during the call only.
typedef void (*ringkernel_diagnostic_function)(void* user, const ringkernel_diagnostic* diagnostic);

/// A function in MLIR (docs/MLIR.md).
typedef struct ringkernel_mlir_module {
  size_t struct_size;   /* sizeof(ringkernel_mlir_module) */
  const char* text;     /* or bytecode */
  uint64_t text_bytes;  /* 0: up to the zero behind the text */
  const char* name;     /* of the graph, and of the text in errors; null: the function's, and "-" */
  const char* function; /* which; null: the only one that is public */
  const char* library;  /* with MLIR's C API; null: it is looked for */
  /// Arguments that the function keeps, and the results that they become for the next execution, by
  /// their places from 0 on.
  const size_t* state_arguments;
  const size_t* state_results;
  size_t state_count;
  /// Called in the calling thread for each thing that is said of the text, notes behind what they
  /// belong to, and warnings where the text is read. Null: nobody is told.
  ringkernel_diagnostic_function diagnostic;
  void* user;
} ringkernel_mlir_module;

/// What a function takes and gives, and what it occupies.
typedef struct ringkernel_signature {
  size_t struct_size; /* sizeof(ringkernel_signature) */
  uint64_t inputs;
  uint64_t outputs;
  uint64_t states;
  uint64_t commands;    /* that one execution runs */
  uint64_t arena_bytes; /* commands and constants, and the two below */
  uint64_t state_bytes; /* what each instance keeps */
  uint64_t workspace_bytes;
} ringkernel_signature;

/// The kinds of a function's tensors.
enum ringkernel_port { RINGKERNEL_INPUT = 0, RINGKERNEL_OUTPUT = 1, RINGKERNEL_STATE = 2 };

/// One execution: its inputs and the places of its results, in the function's order.
typedef struct ringkernel_execution {
  size_t struct_size; /* sizeof(ringkernel_execution) */
  const ringkernel_tensor* inputs;
  size_t input_count;
  ringkernel_tensor* results; /* each as that of `ringkernel_call` */
  size_t result_count;
  /// Null, or as many as inputs, or as results. One that is not null is the input, or takes the
  /// result, of its number, and what the caller's memory has there is not looked at.
  ringkernel_resident* const* residents;
  ringkernel_resident* const* into;
  uint64_t timeout_ns;
  int32_t priority;   /* higher goes first among those still queued on the host */
  uint32_t check_nan; /* not 0: not_a_number where an f32 input or output here has a NaN */
} ringkernel_execution;

/// A tensor on the device with the type and shape of `tensor` and, where that has `data`, its
/// elements; otherwise zeros. E2005, E3002, E3006, E6004, limit_exceeded; those of `write`.
RINGKERNEL_API ringkernel_status ringkernel_resident_create(ringkernel_runtime* runtime,
                                                            const ringkernel_tensor* tensor,
                                                            ringkernel_resident** out_resident);
/// Copies all elements in, or out, once no message in flight uses the tensor (`read`: writes it).
/// `write` looks at type and bytes alone: E2004, E3007. `read` describes the result, as `call`
/// does, with message_too_large. deadline_exceeded: nothing was copied.
RINGKERNEL_API ringkernel_status ringkernel_resident_write(ringkernel_resident* resident,
                                                           const ringkernel_tensor* elements,
                                                           uint64_t timeout_ns);
/// As the write before it.
RINGKERNEL_API ringkernel_status ringkernel_resident_read(ringkernel_resident* resident,
                                                          uint64_t timeout_ns,
                                                          ringkernel_tensor* result);
/// Gives the memory back once no message in flight uses the tensor; never waits.
RINGKERNEL_API ringkernel_status ringkernel_resident_close(ringkernel_resident* resident);

/// A function from the text of a graph (docs/GRAPHS.md, "As text"). `name` stands in errors and in
/// the id of its ring kernel. Errors of the text have its line and column.
RINGKERNEL_API ringkernel_status ringkernel_function_compile_text(
    ringkernel_runtime* runtime, const char* name, const char* text,
    const ringkernel_function_options* options, ringkernel_function** out_function);
/// From a model in an ONNX file. malformed_message (no such file's content), invalid_argument (it
/// cannot be read; names, extents), E6003 with every op that is not known, E2005.
RINGKERNEL_API ringkernel_status ringkernel_function_compile_onnx(
    ringkernel_runtime* runtime, const ringkernel_onnx_model* model,
    const ringkernel_function_options* options, ringkernel_function** out_function);
/// From a function in MLIR. library_not_found, symbol_not_found and unsupported (no such library,
/// or none that will do), invalid_argument (what MLIR refuses, with its own words; no such
/// function; several, and none is named; open extents; states), E6003 with every op that is not
/// read, E2005.
RINGKERNEL_API ringkernel_status ringkernel_function_compile_mlir(
    ringkernel_runtime* runtime, const ringkernel_mlir_module* module,
    const ringkernel_function_options* options, ringkernel_function** out_function);
/// Another one with the same commands and constants, and with states of its own, zeros at first.
RINGKERNEL_API ringkernel_status ringkernel_function_instance(
    ringkernel_function* function, const ringkernel_function_options* options,
    ringkernel_function** out_function);
/// Waits for the execution in hand if there is no other handle, nor a prepared call.
RINGKERNEL_API ringkernel_status ringkernel_function_close(ringkernel_function* function);

/// Fills as much of `out_signature` as its `struct_size` says.
RINGKERNEL_API ringkernel_status ringkernel_function_signature(ringkernel_function* function,
                                                               ringkernel_signature* out_signature);
/// An input, output or state (enum ringkernel_port) by its number: its type and shape, and how much
/// room its elements need; `data` stays. `out_name`, which may be null, gets its name, "" if it has
/// none, valid until the handle is closed. invalid_argument: there is none.
RINGKERNEL_API ringkernel_status ringkernel_function_describe(ringkernel_function* function,
                                                              int32_t port, size_t number,
                                                              ringkernel_tensor* out_tensor,
                                                              const char** out_name);

/// Runs the graph and waits. With too little room for a result nothing runs: message_too_large, and
/// `data_bytes` of each result here is what it needs. An input of a shape like [1, N] takes N
/// elements in a row as well. E2007, E2004, E3003, E3007; invalid_argument (a tensor in two
/// results, or one that would still be read), E2005, E6001, not_a_number; those of
/// `ringkernel_call`. After an error, tensors in `into` have unspecified elements.
RINGKERNEL_API ringkernel_status ringkernel_function_execute(ringkernel_function* function,
                                                             const ringkernel_execution* execution);
/// For executions again and again by `ringkernel_prepared_call`, without resident tensors and
/// without a look for a NaN. It holds the function. message_too_large.
RINGKERNEL_API ringkernel_status ringkernel_function_prepare(ringkernel_function* function,
                                                             ringkernel_prepared** out_prepared);

/// Copies all elements of a state of this instance out, or in, behind the executions that were
/// accepted before. Room and errors are those of resident tensors. invalid_argument: no such state.
RINGKERNEL_API ringkernel_status ringkernel_function_read_state(ringkernel_function* function,
                                                                size_t state, uint64_t timeout_ns,
                                                                ringkernel_tensor* result);
/// As the read before it.
RINGKERNEL_API ringkernel_status ringkernel_function_write_state(ringkernel_function* function,
                                                                 size_t state,
                                                                 const ringkernel_tensor* elements,
                                                                 uint64_t timeout_ns);
/// Makes zeros of all states of this instance, as they were at first.
RINGKERNEL_API ringkernel_status ringkernel_function_reset_states(ringkernel_function* function,
                                                                  uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
