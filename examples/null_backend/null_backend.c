/* A backend that has no devices and can nothing: what a plugin has to have, and where to begin.
 *
 *     RINGKERNEL_BACKEND_PATH=build/release/examples/null_backend
 *     RuntimeBuilder::backend("null"), or its path
 *
 * To write one of your own: copy this folder, name the target rk_backend_NAME and its table NAME,
 * then fill in from the top. First `device_count` and `describe`: a runtime lists the devices and
 * says why each will not do. Then `open`, `state` and `close` with an arena that the host can write
 * to, `executor_create` and the `slice_` functions with RK_TRANSFER_ZERO_COPY; that serves
 * messages. `copies_start` and `copies_wait` are for devices with memory of their own
 * (RK_TRANSFER_DMA, RK_TRANSFER_SLICED). include/ringkernel/backend_abi.h says what each function
 * promises, and src/backend/native/ is a small one that works. */
#include <stddef.h>

#include "ringkernel/backend_abi.h"

enum { unsupported_operation = 6003 }; /* Errc::unsupported_operation */

static int32_t score(void) { return 0; }

static int32_t device_count(uint32_t* count) {
  *count = 0;
  return 0;
}

static int32_t describe(uint32_t device, rk_device_description* out) {
  (void)device, (void)out;
  return unsupported_operation;
}

static int32_t report(void (*line)(void* context, const char* text), void* context) {
  line(context, "a template, without devices");
  return 0;
}

static int32_t open_device(uint32_t device, const rk_device_options* options, rk_device** out) {
  (void)device, (void)options, (void)out;
  return unsupported_operation;
}

static int32_t state(rk_device* device, rk_device_state* out) {
  (void)device, (void)out;
  return unsupported_operation;
}

static void close_device(rk_device* device) { (void)device; }

static int32_t executor_create(rk_device* device, const rk_program_source* program,
                               uint64_t executor_offset, uint32_t work_groups, rk_executor** out) {
  (void)device, (void)program, (void)executor_offset, (void)work_groups, (void)out;
  return unsupported_operation;
}

static void executor_destroy(rk_executor* executor) { (void)executor; }

static int32_t copies_start(rk_device* device, const rk_copy* copies, uint32_t count,
                            uint64_t* ticket) {
  (void)device, (void)copies, (void)count, (void)ticket;
  return unsupported_operation;
}

static int32_t copies_wait(rk_device* device, uint64_t ticket, uint64_t timeout_ns) {
  (void)device, (void)ticket, (void)timeout_ns;
  return unsupported_operation;
}

static int32_t slice_launch(rk_executor* executor, uint32_t slice) {
  (void)executor, (void)slice;
  return unsupported_operation;
}

static int32_t slice_wait(rk_executor* executor, uint64_t timeout_ns) {
  (void)executor, (void)timeout_ns;
  return unsupported_operation;
}

static int32_t slice_error(rk_executor* executor) {
  (void)executor;
  return unsupported_operation;
}

static const char* last_detail(void) { return "the null backend can nothing"; }

static const rk_backend table = {
    .abi_version = RK_BACKEND_ABI_VERSION,
    .struct_bytes = sizeof(rk_backend),
    .name = "null",
    .description = "no devices; a template for backends",
    .score = score,
    .device_count = device_count,
    .describe = describe,
    .report = report,
    .open = open_device,
    .state = state,
    .close = close_device,
    .executor_create = executor_create,
    .executor_destroy = executor_destroy,
    .executor_prepare = NULL, /* it cannot replace a program that runs */
    .executor_replace = NULL,
    .copies_start = copies_start,
    .copies_wait = copies_wait,
    .slice_launch = slice_launch,
    .slice_run = NULL, /* slices run on threads of the backend's own only */
    .slice_wait = slice_wait,
    .slice_error = slice_error,
    .last_detail = last_detail,
};

/* The one symbol of a plugin. */
__attribute__((visibility("default"))) const rk_backend* rk_backend_query(
    uint32_t host_abi_version) {
  return host_abi_version == RK_BACKEND_ABI_VERSION ? &table : NULL;
}
