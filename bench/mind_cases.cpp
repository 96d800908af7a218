// One op through the C interface of the MIND runtime: waited for, and given without waiting, one at
// a time and a thousand before anybody waits.
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "figures.hpp"
#include "mind_cases.hpp"
#include "ringkernel/mind_runtime.h"

namespace bench {
namespace {

/// Sums of 16 floats, written in turn to tensors of their own.
class Adds {
 public:
  explicit Adds(const char* backend) {
    mind_runtime_options_t options{};
    options.struct_size = sizeof options;
    options.backend = backend;
    check(mind_runtime_open(MIND_DEVICE_CPU, &options, &runtime_));
    for (mind_tensor_t*& operand : operands_) operand = allocate();
    for (mind_tensor_t*& sum : sums_) sum = allocate();
  }
  Adds(const Adds&) = delete;
  Adds& operator=(const Adds&) = delete;
  ~Adds() { mind_runtime_free(runtime_); }

  void run() {
    check(mind_runtime_run_op(runtime_, "add", operands_.data(), operands_.size(), next(), 1));
  }
  void start() {
    check(mind_runtime_run_op_async(runtime_, "add", nullptr, operands_.data(), operands_.size(),
                                    next(), 1));
  }
  void synchronize() { check(mind_runtime_synchronize(runtime_)); }

 private:
  static void check(mind_status_t status) {
    if (status != MIND_STATUS_OK) throw std::runtime_error(mind_runtime_last_error());
  }
  mind_tensor_t* allocate() {
    constexpr std::array<std::int64_t, 1> shape{16};
    mind_tensor_t* tensor = nullptr;
    check(mind_tensor_alloc(runtime_, MIND_DTYPE_F32, shape.data(), shape.size(), &tensor));
    return tensor;
  }
  mind_tensor_t** next() { return &sums_[next_++ % sums_.size()]; }

  mind_runtime_t* runtime_ = nullptr;
  std::array<mind_tensor_t*, 2> operands_{};
  std::array<mind_tensor_t*, 64> sums_{};
  std::size_t next_ = 0;
};

constexpr int ops_in_flight = 1000;

template <class Round>
Measurement time_of(const char* backend, int ops, Round round) {
  Adds adds(backend);
  Latencies latencies;
  while (latencies.more()) {
    const Stopwatch watch;
    round(adds);
    latencies.add(watch.us() / ops);
  }
  return latencies.result();
}

Measurement waited_for(const char* backend) {
  return time_of(backend, 1, [](Adds& adds) { adds.run(); });
}
Measurement one_in_flight(const char* backend) {
  return time_of(backend, 1, [](Adds& adds) {
    adds.start();
    adds.synchronize();
  });
}
Measurement many_in_flight(const char* backend) {
  return time_of(backend, ops_in_flight, [](Adds& adds) {
    for (int op = 0; op < ops_in_flight; ++op) adds.start();
    adds.synchronize();
  });
}

template <Measurement (*measure)(const char*)>
Measurement natively() {
  return measure("native");
}
template <Measurement (*measure)(const char*)>
Measurement on_opencl() {
  return measure("opencl");
}

const Case cases_of_mind[] = {
    {"native_mind", "us", natively<waited_for>},
    {"native_mind_async_1", "us", natively<one_in_flight>},
    {"native_mind_async_1000", "us", natively<many_in_flight>},
    {"opencl_mind", "us", on_opencl<waited_for>},
    {"opencl_mind_async_1", "us", on_opencl<one_in_flight>},
    {"opencl_mind_async_1000", "us", on_opencl<many_in_flight>},
};

}  // namespace

std::span<const Case> mind_cases() { return cases_of_mind; }

}  // namespace bench
