// Figures from C, to older and newer callers, and nonsense.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstring>
#include <thread>

#include "capi/nonsense.hpp"
#include "capi/ringkernel_fixture.hpp"
#include "ringkernel/ringkernel_metrics.h"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;

class MetricsCapi : public RingkernelCapi {
 protected:
  MetricsCapi() {
    const ringkernel_request relu = request("relu", 1), add = request("add", 2);
    for (int i = 0; i < 200; ++i) {
      result_.data_bytes = sizeof out_;
      EXPECT_EQ(ringkernel_call(kernel_, &relu, 0, &result_), RINGKERNEL_OK) << last_error();
    }
    EXPECT_EQ(ringkernel_send(kernel_, &add, 0, nullptr), RINGKERNEL_OK);
    EXPECT_EQ(ringkernel_receive(kernel_, 60 * second_ns, &result_, nullptr), RINGKERNEL_OK);
  }
  ringkernel_kernel_figures figures() {
    ringkernel_kernel_figures made{};
    made.struct_size = sizeof made;
    EXPECT_EQ(ringkernel_kernel_metrics(kernel_, &made), RINGKERNEL_OK) << last_error();
    return made;
  }
  const char* text(std::int32_t which) {
    const char* told = nullptr;
    EXPECT_EQ(ringkernel_runtime_describe(runtime_, which, &told), RINGKERNEL_OK) << last_error();
    return told;
  }
};

TEST_F(MetricsCapi, CountAKernelsMessages) {
  const ringkernel_kernel_figures now = figures();
  EXPECT_EQ(now.status, RINGKERNEL_ACTIVE);
  EXPECT_EQ(now.accepted, 201u);
  EXPECT_EQ(now.replied, 201u);
  EXPECT_EQ(now.messages_in, 201u);
  EXPECT_EQ(now.messages_out, 201u);
  EXPECT_GT(now.bytes_in, 201u * 16);
  EXPECT_EQ(now.failed, 0u);
  EXPECT_EQ(now.in_flight, 0u);
  EXPECT_EQ(now.in_flight_max, 1024u);
  EXPECT_EQ(now.input_ring_bytes, 256u * 1024);
  EXPECT_EQ(now.output_ring_bytes, 256u * 1024);
  EXPECT_EQ(now.program_version, 1u);
}

TEST_F(MetricsCapi, TellHowLongMessagesTook) {
  const ringkernel_request relu = request("relu", 1);
  while (figures().latency.count == 0) {  // one in a number is timed
    result_.data_bytes = sizeof out_;
    ASSERT_EQ(ringkernel_call(kernel_, &relu, 0, &result_), RINGKERNEL_OK) << last_error();
  }
  const ringkernel_latency latency = figures().latency;
  EXPECT_GT(latency.p50_ns, 0u);
  EXPECT_LE(latency.p50_ns, latency.p90_ns);
  EXPECT_LE(latency.p90_ns, latency.p99_ns);
  EXPECT_LE(latency.p99_ns, latency.p999_ns);
  EXPECT_LE(latency.p999_ns, latency.max_ns);
  EXPECT_GE(latency.sum_ns, latency.max_ns - latency.max_ns / 100);
  EXPECT_GT(figures().device.count, 0u);
}

TEST_F(MetricsCapi, DescribeARuntime) {
  ringkernel_runtime_figures now{};
  now.struct_size = sizeof now;
  ASSERT_EQ(ringkernel_runtime_metrics(runtime_, &now), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(now.kernels, 1u);
  EXPECT_EQ(now.executors, 1u);
  EXPECT_EQ(now.arena_bytes, 128u * 1024 * 1024);
  EXPECT_GT(now.arena_free_bytes, 0u);
  EXPECT_EQ(now.errors, 0u);
  const ringkernel_request wrong = request("add", 1);
  EXPECT_EQ(ringkernel_call(kernel_, &wrong, 0, &result_), 2007);
  EXPECT_STREQ(text(RINGKERNEL_TEXT_BACKEND), "native");
  EXPECT_STREQ(text(RINGKERNEL_TEXT_TRANSFER), "zero_copy");
  for (const std::int32_t which :
       {RINGKERNEL_TEXT_NAME, RINGKERNEL_TEXT_DEVICE, RINGKERNEL_TEXT_TELEMETRY_FILE,
        RINGKERNEL_TEXT_HTTP_ADDRESS, RINGKERNEL_TEXT_TELEMETRY_FAILURE})
    EXPECT_NE(text(which), nullptr);
  EXPECT_GT(std::strlen(text(RINGKERNEL_TEXT_DEVICE)), 0u);
  const char* told = nullptr;
  EXPECT_EQ(ringkernel_runtime_describe(runtime_, 7, &told), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_runtime_describe(runtime_, 0, nullptr), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(told, nullptr);
}

TEST_F(MetricsCapi, FillWhatTheirCallerKnows) {
  ringkernel_kernel_figures now{};
  now.struct_size = offsetof(ringkernel_kernel_figures, latency);
  now.latency.count = 77;
  ASSERT_EQ(ringkernel_kernel_metrics(kernel_, &now), RINGKERNEL_OK);
  EXPECT_EQ(now.accepted, 201u);
  EXPECT_EQ(now.latency.count, 77u);
  EXPECT_EQ(now.struct_size, offsetof(ringkernel_kernel_figures, latency));
}

TEST_F(MetricsCapi, RefuseNullAndNonsense) {
  ringkernel_kernel_figures of_kernel{};
  ringkernel_runtime_figures of_runtime{};
  ringkernel_method_figures of_method{};
  const ringkernel_method method{};
  EXPECT_EQ(ringkernel_kernel_metrics(kernel_, &of_kernel), 1001) << "no size";
  EXPECT_EQ(ringkernel_kernel_metrics(kernel_, nullptr), 1001);
  EXPECT_EQ(ringkernel_runtime_metrics(runtime_, &of_runtime), 1001);
  EXPECT_EQ(ringkernel_runtime_metrics(runtime_, nullptr), 1001);
  EXPECT_EQ(ringkernel_kernel_method_metrics(kernel_, &method, &of_method), 1001);
  of_method.struct_size = sizeof of_method;
  of_method.answered = 7;
  EXPECT_EQ(ringkernel_kernel_method_metrics(kernel_, nullptr, &of_method), 1001);
  EXPECT_EQ(ringkernel_kernel_method_metrics(kernel_, &method, nullptr), 1001);
  EXPECT_EQ(ringkernel_kernel_method_metrics(kernel_, &method, &of_method), RINGKERNEL_OK);
  EXPECT_EQ(of_method.answered, 0u) << "of ops there are no methods";
  of_kernel.struct_size = sizeof of_kernel;
  of_runtime.struct_size = sizeof of_runtime;
  const char* told = nullptr;
  for (ringkernel_kernel* const none : no_handles<ringkernel_kernel>(runtime_)) {
    EXPECT_EQ(ringkernel_kernel_metrics(none, &of_kernel), 1001);
    EXPECT_EQ(ringkernel_kernel_method_metrics(none, &method, &of_method), 1001);
  }
  for (ringkernel_runtime* const none : no_handles<ringkernel_runtime>(kernel_)) {
    EXPECT_EQ(ringkernel_runtime_metrics(none, &of_runtime), 1001);
    EXPECT_EQ(ringkernel_runtime_describe(none, 0, &told), 1001);
  }
  EXPECT_EQ(of_kernel.accepted, 0u);
  EXPECT_THAT(last_error(), HasSubstr("runtime is no"));
}

}  // namespace
}  // namespace ringkernel::test
