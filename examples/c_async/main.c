/* An event loop in C with calls in flight: epoll waits for the queue's descriptor beside whatever
 * else a service waits for, and the loop's one thread begins calls and takes their ends. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "ringkernel/ringkernel_async.h"

enum { calls = 1000, in_flight_max = 8, elements = 4 };

/* One call: its operand, its place for the result. */
struct call {
  float input[elements], output[elements];
  ringkernel_tensor result;
};

static void check(ringkernel_status status) {
  if (status == RINGKERNEL_OK) return;
  fprintf(stderr, "c_async: %s\n", ringkernel_last_error());
  exit(1);
}

static ringkernel_tensor tensor(float* data) {
  return (ringkernel_tensor){.dtype = RINGKERNEL_F32,
                             .rank = 1,
                             .dims = {elements},
                             .data = data,
                             .data_bytes = elements * sizeof *data};
}

/* The tag says which call it is when it ends. */
static void begin(ringkernel_kernel* kernel, ringkernel_queue* queue, struct call* call,
                  uint64_t number) {
  for (int i = 0; i < elements; ++i) call->input[i] = (float)number - (float)i;
  const ringkernel_tensor operand = tensor(call->input);
  const ringkernel_request request = {
      .struct_size = sizeof request, .op = "neg", .inputs = &operand, .input_count = 1};
  call->result = tensor(call->output);
  check(ringkernel_call_async(kernel, &request, NULL, queue, number, &call->result));
}

int main(void) {
  ringkernel_runtime* runtime = NULL;
  ringkernel_kernel* kernel = NULL;
  ringkernel_queue* queue = NULL;
  check(ringkernel_runtime_open(NULL, &runtime));
  check(ringkernel_kernel_launch(runtime, "worker", NULL, &kernel));
  check(ringkernel_kernel_activate(kernel));
  check(ringkernel_queue_open(&queue));

  int descriptor = -1;
  check(ringkernel_queue_descriptor(queue, &descriptor));
  struct epoll_event event = {.events = EPOLLIN};
  const int loop = epoll_create1(EPOLL_CLOEXEC);
  if (loop < 0 || epoll_ctl(loop, EPOLL_CTL_ADD, descriptor, &event) != 0) return 1;

  static struct call slots[in_flight_max];
  uint64_t begun = 0, ended = 0, failed = 0;
  while (begun < in_flight_max) {
    begin(kernel, queue, &slots[begun], begun);
    ++begun;
  }
  while (ended < calls) {
    if (epoll_wait(loop, &event, 1, -1) != 1) continue;
    ringkernel_completion completion = {.struct_size = sizeof completion};
    while (ringkernel_queue_next(queue, 0, &completion) == RINGKERNEL_OK) {
      const uint64_t number = completion.tag;
      struct call* const slot = &slots[number % in_flight_max];
      if (completion.status != RINGKERNEL_OK || slot->output[1] != 1 - (float)number) ++failed;
      ++ended;
      /* Its slot is free again. */
      if (begun < calls) {
        begin(kernel, queue, slot, number + in_flight_max);
        ++begun;
      }
    }
  }
  printf("%d calls ended, %d failed, %d in flight at most\n", (int)ended, (int)failed,
         in_flight_max);

  ringkernel_completion none = {.struct_size = sizeof none};
  if (ringkernel_queue_next(queue, 0, &none) == RINGKERNEL_E_deadline_exceeded)
    printf("refused: %s\n", ringkernel_last_error());
  check(ringkernel_queue_close(queue));
  check(ringkernel_runtime_close(runtime));
  return 0;
}
