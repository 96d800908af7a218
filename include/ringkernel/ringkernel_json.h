/// JSON for C, and for what can call C: messages and states of programs with a schema, by name
/// (docs/PROGRAMS.md). Of a library of its own, `libringkernel_json.so`, which brings the parser of
/// FlatBuffers along; `libringkernel.so` does all else.
///
///     ringkernel_json* json;
///     const char* reply;
///     ringkernel_json_open(kernel, &json);
///     ringkernel_json_call(json, kernel, "Submit", "{\"id\": 77}", timeout_ns, &reply);
///     log(reply);
///     ringkernel_json_close(json);
///
/// JSON from anybody is safe to parse. What the parser takes besides JSON, and what the conversions
/// cost, is in json.hpp.
///
/// Threading: every function from any thread, on shared handles too.
/// Ownership: a text that a function gives is valid until the thread's next call of this library.
/// Handles are as in ringkernel.h, and outlive kernel and runtime.
/// Errors: as in ringkernel.h, whose numbers they are; the texts are `ringkernel_json_last_error`.
/// malformed_request: "Submit:1:13: unknown field: quantity"; unknown_method. Those of the function
/// of ringkernel.h that does the same with bytes.
#ifndef RINGKERNEL_RINGKERNEL_JSON_H
#define RINGKERNEL_RINGKERNEL_JSON_H

#include "ringkernel/ringkernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Converts the messages and the state of one behaviour.
typedef struct ringkernel_json ringkernel_json;

/// What the last function of this library that this thread called failed with; null if it did not
/// fail. Valid until the thread's next call.
RINGKERNEL_API const char* ringkernel_json_last_error(void);

/// By the schema that the kernel's program has now: a version that adds methods wants a new handle.
/// unsupported_operation: it has none.
RINGKERNEL_API ringkernel_status ringkernel_json_open(ringkernel_kernel* kernel,
                                                      ringkernel_json** out_json);
/// The handle is gone, and its texts with it.
RINGKERNEL_API ringkernel_status ringkernel_json_close(ringkernel_json* json);

/// A call: as `ringkernel_call_method`. handler_fault: `ringkernel_last_fault`. That, and
/// `ringkernel_last_version`, are 0 where it was not sent. The conversions alone leave both alone.
RINGKERNEL_API ringkernel_status ringkernel_json_call(ringkernel_json* json,
                                                      ringkernel_kernel* kernel, const char* method,
                                                      const char* request, uint64_t timeout_ns,
                                                      const char** out_reply);
/// The conversions alone, for `ringkernel_send_method` and `ringkernel_receive_bytes`. The bytes of
/// a request are the library's, as a text is.
RINGKERNEL_API ringkernel_status ringkernel_json_to_request(ringkernel_json* json,
                                                            const char* method, const char* text,
                                                            ringkernel_bytes* out_request);
/// A reply as one line of JSON.
RINGKERNEL_API ringkernel_status ringkernel_json_from_reply(ringkernel_json* json,
                                                            const char* method,
                                                            const ringkernel_bytes* reply,
                                                            const char** out_text);
/// The state of a kernel that is launched or deactivated.
RINGKERNEL_API ringkernel_status ringkernel_json_read_state(ringkernel_json* json,
                                                            ringkernel_kernel* kernel,
                                                            const char** out_state);
/// The state from JSON, as `ringkernel_kernel_write_state`.
RINGKERNEL_API ringkernel_status ringkernel_json_write_state(ringkernel_json* json,
                                                             ringkernel_kernel* kernel,
                                                             const char* state);

/// A schema's text in its binary form, for `ringkernel_program_add`. `name` is what errors call it;
/// an `include` of it is looked for beside `name`. The bytes are the library's, as a text is.
/// invalid_argument: "trading.fbs:7:12: reason".
RINGKERNEL_API ringkernel_status ringkernel_json_schema(const char* name, const char* text,
                                                        ringkernel_bytes* out_schema);

#ifdef __cplusplus
}
#endif

#endif
