// A service with one kernel that has answered one call, until it is killed: BACKEND KERNEL.
#include <unistd.h>

#include <cstddef>
#include <vector>

#include "ringkernel/ringkernel.hpp"

int main(int argument_count, char** arguments) {
  namespace rk = ringkernel;
  if (argument_count != 3) return 2;
  auto runtime = rk::RingKernelRuntime::builder().backend(arguments[1]).build().value();
  auto kernel = runtime.launch(arguments[2], {.program = "echo", .auto_activate = true}).value();
  (void)kernel.call(std::vector<std::byte>(64)).value();
  for (;;) pause();
}
