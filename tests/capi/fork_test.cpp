// The C interfaces in a forked child: what its parent made is refused and forgotten, what it makes
// itself works.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "ringkernel/mind_runtime.h"
#include "ringkernel/ringkernel.h"

namespace ringkernel::test {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

bool says_fork(const char* text) {
  return text != nullptr && std::string(text).find("made before fork") != std::string::npos;
}

class CapiFork : public ::testing::Test {
 protected:
  /// A child that hangs is killed, which is another end than the one that is expected.
  template <class Check>
  [[noreturn]] static void end_with(const Check& check) {
    alarm(60);
    std::exit(check());
  }
};

struct Opened {
  ringkernel_runtime* runtime = nullptr;
  ringkernel_kernel* kernel = nullptr;
};

Opened open() {
  Opened opened;
  ringkernel_runtime_options options{};
  options.struct_size = sizeof options;
  options.backend = "native";
  if (ringkernel_runtime_open(&options, &opened.runtime) != RINGKERNEL_OK) return opened;
  if (ringkernel_kernel_launch(opened.runtime, "a", nullptr, &opened.kernel) == RINGKERNEL_OK)
    (void)ringkernel_kernel_activate(opened.kernel);
  return opened;
}

ringkernel_status call(ringkernel_kernel* kernel) {
  std::array<float, 2> elements{-1, 2}, out{};
  ringkernel_tensor input{};
  input.dtype = RINGKERNEL_F32;
  input.rank = 1;
  input.dims[0] = 2;
  input.data = elements.data();
  input.data_bytes = sizeof elements;
  ringkernel_tensor result{};
  result.data = out.data();
  result.data_bytes = sizeof out;
  const ringkernel_request relu{sizeof relu, "relu", nullptr, &input, 1, nullptr, nullptr};
  const ringkernel_status status = ringkernel_call(kernel, &relu, 20 * second_ns, &result);
  return status == RINGKERNEL_OK && out[1] != 2 ? RINGKERNEL_E_internal : status;
}

TEST_F(CapiFork, AChildIsRefusedAndMayOpenItsOwn) {
  const Opened before = open();
  ASSERT_EQ(call(before.kernel), RINGKERNEL_OK);
  const auto check = [&] {
    std::int32_t state = 0;
    if (call(before.kernel) != RINGKERNEL_E_invalid_state) return 1;
    if (!says_fork(ringkernel_last_error())) return 2;
    if (ringkernel_kernel_state(before.kernel, &state) != RINGKERNEL_E_invalid_state) return 3;
    if (ringkernel_kernel_close(before.kernel) != RINGKERNEL_OK) return 4;
    if (ringkernel_kernel_close(before.kernel) != RINGKERNEL_E_invalid_argument) return 5;
    if (ringkernel_runtime_close(before.runtime) != RINGKERNEL_OK) return 6;
    const Opened own = open();
    if (call(own.kernel) != RINGKERNEL_OK) return 7;
    return ringkernel_runtime_close(own.runtime) == RINGKERNEL_OK ? 0 : 8;
  };
  EXPECT_EXIT(end_with(check), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(call(before.kernel), RINGKERNEL_OK) << "the parent's own goes on";
  EXPECT_EQ(ringkernel_runtime_close(before.runtime), RINGKERNEL_OK);
}

TEST_F(CapiFork, AChildOfAMindRuntimeIsRefusedAndForgets) {
  mind_runtime_options_t options{};
  options.struct_size = sizeof options;
  options.backend = "native";
  mind_runtime_t* runtime = nullptr;
  ASSERT_EQ(mind_runtime_open(MIND_DEVICE_CPU, &options, &runtime), MIND_STATUS_OK);
  const std::int64_t shape[] = {2};
  mind_tensor_t* x = nullptr;
  ASSERT_EQ(mind_tensor_alloc(runtime, MIND_DTYPE_F32, shape, 1, &x), MIND_STATUS_OK);
  // Leaves no thread behind that `exit` would wait for.
  ASSERT_EQ(mind_runtime_run_op_async(runtime, "relu", nullptr, &x, 1, &x, 1), MIND_STATUS_OK);
  ASSERT_EQ(mind_runtime_synchronize(runtime), MIND_STATUS_OK);
  const auto check = [&] {
    float floats[2] = {};
    if (mind_runtime_run_op(runtime, "relu", &x, 1, &x, 1) != MIND_STATUS_RUNTIME_ERROR) return 1;
    if (!says_fork(mind_runtime_last_error())) return 2;
    if (mind_tensor_read_f32(runtime, x, floats, 2) != MIND_STATUS_RUNTIME_ERROR) return 3;
    if (mind_runtime_synchronize(runtime) != MIND_STATUS_RUNTIME_ERROR) return 4;
    mind_tensor_free(runtime, x);
    if (mind_runtime_last_error() != nullptr) return 5;
    mind_runtime_free(runtime);
    return mind_runtime_last_error() == nullptr ? 0 : 6;
  };
  EXPECT_EXIT(end_with(check), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(mind_runtime_run_op(runtime, "relu", &x, 1, &x, 1), MIND_STATUS_OK);
  mind_runtime_free(runtime);
}

}  // namespace
}  // namespace ringkernel::test
