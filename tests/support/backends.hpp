/// A fixture that opens runtimes on each backend under test (registry.hpp). One that this machine
/// cannot serve skips its tests, with the reason, unless it is required (skip.hpp).
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
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ringkernel/ringkernel.hpp"
#include "support/exceptions.hpp"
#include "support/registry.hpp"
#include "support/skip.hpp"

namespace ringkernel::test {

inline std::string backend_label(const ::testing::TestParamInfo<const char*>& info) {
  return label_of(std::string_view(info.param));
}

/// Whether a sanitizer slows down what `backend` executes: never in the code of an OpenCL driver.
inline bool is_sanitized([[maybe_unused]] std::string_view backend) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return is_of_host_threads(backend);
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
/// The largest that a test has time for. Under AddressSanitizer 1024 is over too soon for tests of
/// timeouts.
#if defined(__SANITIZE_THREAD__)
inline constexpr std::uint32_t sanitized_side_max = 1024;
#else
inline constexpr std::uint32_t sanitized_side_max = 1536;
#endif
/// Of matrices whose product takes as long as one of `side` takes a processor, roughly: a sanitizer
/// is slower, and so is the one work-item of a GPU that has the message.
template <class Runtime>
std::uint32_t long_side(Runtime& runtime, std::uint32_t side) {
  if (is_sanitized(runtime.metrics().backend)) return std::min(side / 2, sanitized_side_max);
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
    const BackendOpening& known = opening_of(GetParam());
    if (known.error == Errc::backend_unavailable && !is_of_host_threads(GetParam()) && !are_named())
      RK_SKIP_WITHOUT(known.traits.backend, known.error.message());
    ASSERT_FALSE(known.error) << known.error.message();
    const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = source_name(test.test_suite_name(), test.name());
    if (const Exception* const never = find_exception(unsupported, name, known.traits))
      RK_SKIP_UNSUPPORTED(never->reason);
    if (const Exception* const not_yet = find_exception(expected_failures, name, known.traits))
      expected_failure_.emplace(not_yet->reason);
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

 private:
  struct BackendOpening {
    error_code error;
    DeviceTraits traits;
  };
  /// Asked once: opening takes time.
  static const BackendOpening& opening_of(const char* backend) {
    static std::map<std::string, BackendOpening, std::less<>> known;
    const auto [found, is_unknown] = known.try_emplace(backend);
    if (!is_unknown) return found->second;
    BackendOpening& now = found->second;
    now.traits.backend = label_of(std::string_view(backend));
    if (auto runtime = open_on(backend)) {
      now.traits.transfer = runtime->metrics().transfer;
      now.traits.is_gpu = keeps_gpu_profile(*runtime);
    } else {
      now.error = runtime.error().code;
      std::cout << runtime.error().text() << '\n';
    }
    return now;
  }

  std::optional<ExpectedFailure> expected_failure_;  // ends with the fixture
};

/// Before the end of a runtime with a termination_timeout so short that its shutdown might not see
/// the slices leave, and would keep their memory.
inline void end_program(RingKernelRuntime& runtime, std::string_view program) {
  while (!runtime.restart(program)) std::this_thread::yield();
}

#define RK_ON_EACH_BACKEND(suite)                                                    \
  class suite : public ::ringkernel::test::OnEachBackend {};                         \
  INSTANTIATE_TEST_SUITE_P(Backends, suite,                                          \
                           ::testing::ValuesIn(::ringkernel::test::backend_names()), \
                           ::ringkernel::test::backend_label)

}  // namespace ringkernel::test
