// What a user of an installed copy writes: a call on the best device there is, and on the host.
#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdio>

#include "ringkernel/backend_abi.h"
#include "ringkernel/ringkernel.hpp"

#if defined(FLATBUFFERS_VERSION_MAJOR) || defined(CL_SUCCESS)
#error "the public headers include what only the library is built with"
#endif
#if defined(BOOST_ASIO_NO_DEPRECATED)
#error "what a user takes of Asio is the user's affair"
#endif

namespace rk = ringkernel;

namespace {

rk::Result<void> run(const char* backend) {
  RK_TRY(runtime, rk::RingKernelRuntime::builder().backend(backend).build());
  RK_TRY(kernel, runtime.launch("adder"));
  RK_TRY_VOID(kernel.activate());
  const std::array a{1.0f, 2.0f, 3.0f};
  const std::array b{10.0f, 20.0f, 30.0f};
  RK_TRY(reply, kernel.call(rk::ops::add(a, b)));
  if (!std::ranges::equal(reply.floats(), std::array{11.0f, 22.0f, 33.0f}))
    return rk::Error(rk::Errc::internal, "another sum");
  std::printf("%s: right\n", runtime.metrics().backend.c_str());
  return kernel.terminate();
}

}  // namespace

int main() {
  for (const char* backend : {"", "native"}) {
    const rk::Result<void> result = run(backend);
    if (result) continue;
    std::printf("%s\n", result.error().text().c_str());
    return 1;
  }
  return 0;
}
