/// The backends as test parameters, and a fixture that opens runtimes on each of them. A backend
/// that this machine cannot serve skips its tests, with the reason.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ringkernel/ringkernel.hpp"

namespace ringkernel::test {

inline const char* const backend_names[] = {"native", "opencl"};

inline std::string backend_label(const ::testing::TestParamInfo<const char*>& info) {
  return info.param;
}

/// For the names of tests.
inline const char* label_of(Transfer transfer) {
  switch (transfer) {
    case Transfer::zero_copy: return "zero_copy";
    case Transfer::dma: return "dma";
    case Transfer::sliced: return "sliced";
    case Transfer::automatic: break;
  }
  return "automatic";
}

/// Whether a sanitizer slows down what `backend` executes: never in the code of an OpenCL driver.
inline bool is_sanitized([[maybe_unused]] std::string_view backend) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return backend == "native";
#else
  return false;
#endif
}

/// Whether it takes only those tensors that a GPU takes (docs/TENSORS.md).
template <class Runtime>
bool keeps_gpu_profile(Runtime& runtime) {
  return !runtime.allocate({DType::f32, {3}}).has_value();
}
/// Of a tensor for a scalar result, which is its element 0.
template <class Runtime>
Shape scalar_shape(Runtime& runtime) {
  return keeps_gpu_profile(runtime) ? Shape{4} : Shape{};
}
/// Of matrices whose product takes as long as one of `side` takes a processor, roughly: a sanitizer
/// is slower, and so is the one work-item of a GPU that has the message.
template <class Runtime>
std::uint32_t long_side(Runtime& runtime, std::uint32_t side) {
  if (is_sanitized(runtime.metrics().backend)) return std::min(side / 2, 1024u);
  return keeps_gpu_profile(runtime) ? side / 4 : side;
}

/// A message of plain bytes: every byte is `value`.
inline std::vector<std::byte> plain(std::size_t bytes, int value = 0) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

/// A plain message of 64 bytes that starts with a number, and the number of such a reply.
inline std::vector<std::byte> numbered(std::uint64_t number) {
  std::vector<std::byte> message(64);
  std::memcpy(message.data(), &number, sizeof number);
  return message;
}
inline std::uint64_t number_of(const Reply& reply) {
  std::uint64_t number = ~std::uint64_t{0};
  if (reply.bytes().size() >= sizeof number)
    std::memcpy(&number, reply.bytes().data(), sizeof number);
  return number;
}

/// The code that an asynchronous operation ends with; `token` is its handler, once.
class FutureCode {
 public:
  auto token() {
    return [promise = promise_](error_code error, auto&&...) { promise->set_value(error); };
  }
  error_code get() { return code_.get(); }

 private:
  std::shared_ptr<std::promise<error_code>> promise_ = std::make_shared<std::promise<error_code>>();
  std::future<error_code> code_ = promise_->get_future();
};

/// Opens runtimes on the backend that is the test's parameter.
class OnEachBackend : public ::testing::TestWithParam<const char*> {
 public:
  static Result<RingKernelRuntime> open_on(std::string backend,
                                           const RuntimeOptions& options = {}) {
    return RingKernelRuntime::builder().backend(std::move(backend)).options(options).build();
  }

 protected:
  void SetUp() override {
    static std::map<std::string, error_code, std::less<>> known;  // asked once: opening takes time
    const auto [backend, is_unknown] = known.try_emplace(GetParam());
    if (is_unknown) {
      const auto runtime = open_on(GetParam());
      if (!runtime) {
        backend->second = runtime.error().code;
        std::cout << runtime.error().text() << '\n';
      }
    }
    if (backend->second == Errc::backend_unavailable && backend->first != "native")
      GTEST_SKIP() << backend->second.message();
    ASSERT_FALSE(backend->second) << backend->second.message();
  }

  [[nodiscard]] static RingKernelRuntime open(const RuntimeOptions& options = {}) {
    return open_on(GetParam(), options).value();
  }
  [[nodiscard]] static Kernel active(RingKernelRuntime& runtime, std::string_view id,
                                     KernelOptions options = {.program = "echo"}) {
    options.auto_activate = true;
    return runtime.launch(id, options).value();
  }
  /// Takes messages, calls too, and runs none until it is activated.
  [[nodiscard]] static Kernel resting(RingKernelRuntime& runtime, std::string_view id,
                                      const KernelOptions& options = {.program = "echo"}) {
    Kernel kernel = active(runtime, id, options);
    kernel.deactivate().value();
    return kernel;
  }
};

/// Before the end of a runtime with a termination_timeout so short that its shutdown might not see
/// the slices leave, and would keep their memory.
inline void end_program(RingKernelRuntime& runtime, std::string_view program) {
  while (!runtime.restart(program)) std::this_thread::yield();
}

#define RK_ON_EACH_BACKEND(suite)                                                  \
  class suite : public ::ringkernel::test::OnEachBackend {};                       \
  INSTANTIATE_TEST_SUITE_P(Backends, suite,                                        \
                           ::testing::ValuesIn(::ringkernel::test::backend_names), \
                           ::ringkernel::test::backend_label)

}  // namespace ringkernel::test
