/// What tests of ringkernel.h begin with.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringkernel/ringkernel.h"
#include "ringkernel/ringkernel_graph.h"

namespace ringkernel::test {

inline constexpr std::uint64_t second_ns = 1'000'000'000;

/// What the thread's last call failed with, or "none".
inline std::string last_error() {
  const char* const text = ringkernel_last_error();
  return text == nullptr ? "none" : text;
}

/// A native runtime with a kernel of ops, by way of ringkernel.h.
class RingkernelCapi : public ::testing::Test {
 protected:
  RingkernelCapi() {
    ringkernel_runtime_options options{};
    options.struct_size = sizeof options;
    options.backend = "native";
    EXPECT_EQ(ringkernel_runtime_open(&options, &runtime_), RINGKERNEL_OK) << last_error();
    EXPECT_EQ(ringkernel_kernel_launch(runtime_, "worker", nullptr, &kernel_), RINGKERNEL_OK);
    EXPECT_EQ(ringkernel_kernel_activate(kernel_), RINGKERNEL_OK) << last_error();
  }
  ~RingkernelCapi() override { (void)ringkernel_runtime_close(runtime_); }
  RingkernelCapi(const RingkernelCapi&) = delete;
  RingkernelCapi& operator=(const RingkernelCapi&) = delete;

  /// A tensor on `elements`.
  static ringkernel_tensor tensor(std::span<float> elements, std::vector<std::int64_t> shape) {
    ringkernel_tensor made{};
    made.dtype = RINGKERNEL_F32;
    made.rank = static_cast<std::uint32_t>(shape.size());
    std::ranges::copy(shape, made.dims);
    made.data = elements.data();
    made.data_bytes = elements.size_bytes();
    return made;
  }
  ringkernel_request request(const char* op, std::size_t inputs, const char* attributes = nullptr) {
    return {sizeof(ringkernel_request), op, attributes, inputs_.data(), inputs, nullptr, nullptr};
  }
  std::int32_t state() {
    std::int32_t state = -1;
    EXPECT_EQ(ringkernel_kernel_state(kernel_, &state), RINGKERNEL_OK);
    return state;
  }

  ringkernel_runtime* runtime_ = nullptr;
  ringkernel_kernel* kernel_ = nullptr;
  std::array<float, 4> elements_{1, -2, 3, -4};
  std::array<float, 4> out_{};
  std::array<ringkernel_tensor, 2> inputs_{tensor(elements_, {2, 2}), tensor(elements_, {2, 2})};
  ringkernel_tensor result_ = tensor(out_, {});
};

/// With tensors on the device.
class ResidentsCapi : public RingkernelCapi {
 protected:
  ringkernel_resident* resident(std::span<float> elements, std::vector<std::int64_t> shape) {
    const ringkernel_tensor like = tensor(elements, std::move(shape));
    ringkernel_resident* made = nullptr;
    EXPECT_EQ(ringkernel_resident_create(runtime_, &like, &made), RINGKERNEL_OK) << last_error();
    return made;
  }
  std::array<float, 4> read(ringkernel_resident* from) {
    std::array<float, 4> elements{};
    ringkernel_tensor result = tensor(elements, {});
    EXPECT_EQ(ringkernel_resident_read(from, 0, &result), RINGKERNEL_OK) << last_error();
    return elements;
  }
};

}  // namespace ringkernel::test
