// What `build` and `launch` refuse, with which code and text, and that a refusal leaves nothing
// behind.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/backends.hpp"
#include "support/environment.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Error build_error(const RuntimeOptions& options) {
  auto runtime = OnEachBackend::open_on(host_backend(), options);
  return runtime ? Error() : runtime.error();
}

TEST(RuntimeOptionsCheck, RefusesKernelCountsThatDoNotFillLines) {
  for (const std::uint32_t count : {0u, 1u, 15u, 1040u})
    EXPECT_EQ(build_error({.kernels_per_program = count}), Errc::invalid_argument) << count;
  EXPECT_FALSE(build_error({.kernels_per_program = 16}).code);
}

TEST(RuntimeOptionsCheck, RefusesNegativeDurationsAndAnEmptyDrain) {
  EXPECT_EQ(build_error({.park_after = -1ns}), Errc::invalid_argument);
  EXPECT_EQ(build_error({.spin_for = -1ns}), Errc::invalid_argument);
  EXPECT_EQ(build_error({.drain_records_max = 0}), Errc::invalid_argument);
  EXPECT_EQ(build_error({.arena_bytes = ~std::uint64_t{0}}), Errc::invalid_argument);
  EXPECT_EQ(build_error({.arena_bytes = 1000}), Errc::allocation_failure);
  EXPECT_EQ(build_error({.call_timeout = -1ns}), Errc::invalid_argument);
  EXPECT_EQ(build_error({.name = std::string(64, 'x')}), Errc::invalid_argument);
  EXPECT_EQ(build_error({.name = "a\nb"}), Errc::invalid_argument);
  EXPECT_EQ(build_error({.name = "\xff"}), Errc::invalid_argument);
  EXPECT_EQ(build_error({.send_timeout = -1ns}), Errc::invalid_argument);
  EXPECT_EQ(build_error({.termination_timeout = -1ns}), Errc::invalid_argument);
}

TEST(RuntimeBuilder, AnUnavailableTargetIsE6002WithWhatWasTried) {
  const auto runtime =
      RingKernelRuntime::builder().target(BackendTarget::gpu).backend("native").build();
  ASSERT_TRUE(runtime.has_error());
  EXPECT_EQ(runtime.error(), Errc::backend_unavailable);
  EXPECT_THAT(runtime.error().text(), HasSubstr("E6002"));
  EXPECT_THAT(runtime.error().detail, HasSubstr("gpu"));
  EXPECT_THAT(runtime.error().detail, HasSubstr("host threads"));
}

TEST(RuntimeBuilder, AnUnknownBackendOrDeviceIsE6002) {
  const auto backend = RingKernelRuntime::builder().backend("abacus").build();
  ASSERT_TRUE(backend.has_error());
  EXPECT_EQ(backend.error(), Errc::backend_unavailable);
  EXPECT_THAT(backend.error().detail, HasSubstr("abacus"));
  EXPECT_THAT(backend.error().detail, HasSubstr("there are: native opencl"));
  const auto device = RingKernelRuntime::builder().backend("native").device(7).build();
  ASSERT_TRUE(device.has_error());
  EXPECT_EQ(device.error(), Errc::backend_unavailable);
  EXPECT_THAT(device.error().detail, HasSubstr("there are 1 such devices: '"));
}

/// Without telemetry, which has a file.
TEST(RuntimeBuilder, AProcessWithoutDescriptorsIsServedNatively) {
#if defined(__SANITIZE_ADDRESS__)
  RK_SKIP_UNSUPPORTED(
      "UBSan opens a pipe to look at an object's memory, and takes the refusal for a bad one");
#endif
  ASSERT_TRUE(RingKernelRuntime::builder().backend(host_backend()).build());  // loads a plugin
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int next = dup(STDERR_FILENO);
  close(next);
  const rlimit none{static_cast<rlim_t>(next), limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto call = []() -> Result<float> {
    RK_TRY(runtime, RingKernelRuntime::builder().backend(host_backend()).build());
    RK_TRY(kernel, runtime.launch("adder", {.auto_activate = true}));
    const std::array one{1.0f};
    RK_TRY(reply, kernel.call(ops::add(one, one)));
    return reply.floats()[0];
  };
  const Result<float> sum = call();
  setrlimit(RLIMIT_NOFILE, &limit);
  ASSERT_TRUE(sum.has_value()) << sum.error().text();
  EXPECT_EQ(*sum, 2.0f);
}

std::string backend_of(const RuntimeBuilder& builder) {
  const auto runtime = builder.build();
  return runtime ? runtime->metrics().backend : runtime.error().text();
}

/// Here no GPU is: an OpenCL device that is a processor is no reason not to be native.
TEST(RuntimeBuilder, WithoutAGpuTheHostComputesUnlessOpenClIsAskedFor) {
  if (RingKernelRuntime::builder().target(BackendTarget::gpu).build())
    RK_SKIP_UNSUPPORTED("there is a GPU");
  const testing::Variable any("RINGKERNEL_TRANSFER", "");
  EXPECT_EQ(backend_of(RingKernelRuntime::builder()), "native");
  EXPECT_EQ(backend_of(RingKernelRuntime::builder().target(BackendTarget::cpu)), "native");
  EXPECT_EQ(backend_of(RingKernelRuntime::builder().device(0)), "native");
  if (const auto opened = OnEachBackend::open_on("opencl", {}); !opened)
    RK_SKIP_WITHOUT("opencl", opened.error().text());
  EXPECT_EQ(backend_of(RingKernelRuntime::builder().backend("opencl")), "opencl");
  EXPECT_EQ(backend_of(RingKernelRuntime::builder().device(1)), "opencl");
}

TEST(RuntimeBuilder, TheEnvironmentChoosesWhereTheProgramDoesNot) {
  const testing::Variable any("RINGKERNEL_TRANSFER", "");
  {
    const testing::Variable backend("RINGKERNEL_BACKEND", "abacus");
    EXPECT_THAT(backend_of(RingKernelRuntime::builder()), HasSubstr("'abacus'"));
    EXPECT_EQ(backend_of(RingKernelRuntime::builder().backend("native")), "native");
  }
  {
    const testing::Variable device("RINGKERNEL_DEVICE", "77");
    EXPECT_THAT(backend_of(RingKernelRuntime::builder()),
                HasSubstr("device 77 ($RINGKERNEL_DEVICE)"));
    EXPECT_EQ(backend_of(RingKernelRuntime::builder().backend("native")), "native");
    EXPECT_EQ(backend_of(RingKernelRuntime::builder().device(0)), "native");
  }
  for (const char* const wrong : {"-1", "1x", "GPU", "99999999999"}) {
    const testing::Variable device("RINGKERNEL_DEVICE", wrong);
    const auto runtime = RingKernelRuntime::builder().build();
    ASSERT_TRUE(runtime.has_error()) << wrong;
    EXPECT_EQ(runtime.error(), Errc::invalid_argument);
    EXPECT_THAT(runtime.error().detail, HasSubstr(wrong));
  }
  const testing::Variable backend("RINGKERNEL_BACKEND", "native");
  const testing::Variable device("RINGKERNEL_DEVICE", "0");
  EXPECT_EQ(backend_of(RingKernelRuntime::builder()), "native");
}

TEST(RuntimeBuilder, ASwitchOfTheEnvironmentIsOnOrOff) {
  const testing::Variable any("RINGKERNEL_TRANSFER", "");
  for (const char* const name :
       {"RINGKERNEL_CACHE", "RINGKERNEL_RESIDENT_COPIER", "RINGKERNEL_TELEMETRY"}) {
    for (const char* const wrong : {"maybe", "yes", "2", "01", " 0"}) {
      const testing::Variable variable(name, wrong);
      const auto runtime = RingKernelRuntime::builder().backend("native").build();
      ASSERT_TRUE(runtime.has_error()) << name << "=" << wrong;
      EXPECT_EQ(runtime.error(), Errc::invalid_argument);
      EXPECT_EQ(runtime.error().detail,
                std::string(name) + " is '" + wrong + "'; there are 0 and 1");
    }
    for (const char* const right : {"", "0", "1"}) {
      const testing::Variable variable(name, right);
      EXPECT_EQ(backend_of(RingKernelRuntime::builder().backend("native")), "native");
    }
  }
}

RK_ON_EACH_BACKEND(Launch);

Error launch_error(RingKernelRuntime& runtime, std::string_view id, const KernelOptions& options) {
  const auto kernel = runtime.launch(id, options);
  return kernel ? Error() : kernel.error();
}

/// However small the arena is that opens: there is room for a ring kernel.
TEST_P(Launch, WhatOpensHasRoomForAKernel) {
  const KernelOptions smallest{
      .program = "echo", .input_bytes = 4096, .output_bytes = 4096, .auto_activate = true};
  std::uint64_t refused = 1000;
  std::uint64_t opened = 1 << 20;
  while (opened - refused > 64) {
    const std::uint64_t arena_bytes = (refused + opened) / 2;
    auto runtime = open_on(GetParam(), {.arena_bytes = arena_bytes, .kernels_per_program = 16});
    if (!runtime) {
      EXPECT_EQ(runtime.error(), Errc::allocation_failure) << runtime.error().text();
      refused = arena_bytes;
      continue;
    }
    opened = arena_bytes;
    auto kernel = runtime->launch("a", smallest);
    ASSERT_TRUE(kernel) << arena_bytes << ": " << kernel.error().text();
    EXPECT_EQ(number_of(kernel->call(numbered(1)).value()), 1u);
  }
}

TEST_P(Launch, RefusesRingsThatAreNoPowerOfTwoOrBeyondTheLimits) {
  auto runtime = open();
  for (const std::uint32_t bytes : {0u, 2048u, 5000u, 0x80000000u}) {
    const Error input = launch_error(runtime, "a", {.program = "echo", .input_bytes = bytes});
    EXPECT_EQ(input, Errc::invalid_argument) << bytes;
    EXPECT_THAT(input.detail, HasSubstr("input_bytes"));
    const Error output = launch_error(runtime, "a", {.program = "echo", .output_bytes = bytes});
    EXPECT_EQ(output, Errc::invalid_argument) << bytes;
    EXPECT_THAT(output.detail, HasSubstr("output_bytes"));
  }
  EXPECT_TRUE(runtime.kernels().empty());
}

TEST_P(Launch, TakesInFlightLimitsUpToTheMostAndNoFurther) {
  auto runtime = open();
  const auto most = static_cast<std::uint32_t>(in_flight_max);
  EXPECT_EQ(launch_error(runtime, "a", {.program = "echo", .in_flight_max = 0}),
            Errc::invalid_argument);
  EXPECT_EQ(launch_error(runtime, "a", {.program = "echo", .in_flight_max = most + 1}),
            Errc::invalid_argument);
  auto kernel = runtime.launch("a", {.program = "echo", .in_flight_max = most});
  ASSERT_TRUE(kernel) << kernel.error().text();
}

// A sender that waits for room is woken when a queued message enters the ring: there must be a
// queue.
TEST_P(Launch, BlockingNeedsAQueue) {
  auto runtime = open();
  EXPECT_EQ(launch_error(runtime, "a", {.program = "echo", .queue_max = 0}),
            Errc::invalid_argument);
  EXPECT_TRUE(runtime.launch(
      "a", {.program = "echo", .queue_max = 0, .backpressure = Backpressure::reject}));
}

TEST_P(Launch, RefusesIdsThatAreEmptyOrTooLong) {
  auto runtime = open();
  EXPECT_EQ(launch_error(runtime, "", {.program = "echo"}), Errc::invalid_argument);
  const std::string longest(kernel_id_length_max, 'x');
  EXPECT_TRUE(runtime.launch(longest, {.program = "echo"}));
  const Error refused = launch_error(runtime, longest + "x", {.program = "echo"});
  EXPECT_EQ(refused, Errc::invalid_argument);
  EXPECT_THAT(refused.detail, HasSubstr("1 to 128 bytes, this one 129"));
}

TEST_P(Launch, RefusesIdsThatAreNoText) {
  auto runtime = open();
  for (const char* const id : {"a\xff", "\xc0\xaf", "\xed\xa0\x80", "cut \xe2\x82"}) {
    const Error refused = launch_error(runtime, id, {.program = "echo"});
    EXPECT_EQ(refused, Errc::invalid_argument) << id;
    EXPECT_THAT(refused.detail, HasSubstr("UTF-8"));
  }
  const Error refused = launch_error(runtime, std::string("a\0b", 3), {.program = "echo"});
  EXPECT_EQ(refused, Errc::invalid_argument);
  EXPECT_THAT(refused.detail, HasSubstr("NUL"));
  EXPECT_TRUE(runtime.launch("größe 数", {.program = "echo"}));
}

TEST_P(Launch, RefusesASecondKernelWithTheSameId) {
  auto runtime = open();
  Kernel first = runtime.launch("a", {.program = "echo"}).value();
  EXPECT_EQ(launch_error(runtime, "a", {.program = "echo"}), Errc::kernel_exists);
  EXPECT_EQ(first.status(), KernelStatus::launched);
  EXPECT_THAT(runtime.kernels(), ElementsAre("a"));
}

TEST_P(Launch, AnUnknownProgramLeavesTheIdAndTheArenaFree) {
  auto runtime = open();
  const std::uint64_t free_bytes = runtime.metrics().arena_free_bytes;
  const Error error = launch_error(runtime, "a", {.program = "no such program"});
  EXPECT_EQ(error, Errc::program_not_found) << error.text();
  EXPECT_THAT(error.detail, HasSubstr("no such program"));
  EXPECT_EQ(runtime.metrics().arena_free_bytes, free_bytes);
  EXPECT_TRUE(runtime.launch("a", {.program = "echo"}));
}

TEST_P(Launch, AnExhaustedArenaIsE6004UntilAKernelEnds) {
  auto runtime = open({.arena_bytes = 4 << 20, .kernels_per_program = 16});
  Kernel first = runtime.launch("first", {.program = "echo"}).value();
  const std::uint64_t free_bytes = runtime.metrics().arena_free_bytes;
  const KernelOptions large{.program = "echo", .input_bytes = 1 << 20, .output_bytes = 1 << 20};
  Kernel second = runtime.launch("second", large).value();
  const Error error = launch_error(runtime, "third", large);
  EXPECT_EQ(error, Errc::allocation_failure);
  EXPECT_THAT(error.text(), HasSubstr("E6004"));
  EXPECT_THAT(runtime.kernels(), ElementsAre("first", "second"));
  second.terminate().value();
  EXPECT_EQ(runtime.metrics().arena_free_bytes, free_bytes);
  EXPECT_TRUE(runtime.launch("third", large));
}

TEST_P(Launch, RefusesMoreKernelsThanTheExecutorServes) {
  auto runtime = open({.kernels_per_program = 16});
  const KernelOptions small{
      .program = "echo", .input_bytes = 4096, .output_bytes = 4096, .in_flight_max = 4};
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(runtime.launch("k" + std::to_string(i), small));
  const std::uint64_t free_bytes = runtime.metrics().arena_free_bytes;
  const Error error = launch_error(runtime, "one too many", small);
  EXPECT_EQ(error, Errc::limit_exceeded);
  EXPECT_THAT(error.detail, HasSubstr("16"));
  EXPECT_EQ(runtime.metrics().arena_free_bytes, free_bytes);
  runtime.terminate("k3").value();
  EXPECT_TRUE(runtime.launch("one too many", small));
}

TEST_P(Launch, RefusesMoreThanOneWorkGroupOrWorkItemWithTheLimit) {
  auto runtime = open();
  for (const auto& [grid, block] :
       {std::pair{Dim3{2, 1, 1}, Dim3{}}, {Dim3{}, Dim3{1, 64, 1}}, {Dim3{}, Dim3{1, 1, 0}}}) {
    const auto kernel = runtime.launch("a", grid, block);
    ASSERT_TRUE(kernel.has_error());
    EXPECT_EQ(kernel.error(), Errc::limit_exceeded);
    EXPECT_THAT(kernel.error().detail, HasSubstr("1x1x1"));
  }
  EXPECT_TRUE(runtime.launch("a", Dim3{}, Dim3{}, {.program = "echo"}));
}

TEST_P(Launch, PresetsLaunch) {
  auto runtime = open(RuntimeOptions::production());
  for (KernelOptions options : {KernelOptions::production(), KernelOptions::low_latency(),
                                KernelOptions::high_throughput()}) {
    options.program = "echo";
    Kernel kernel = active(runtime, "a", options);
    EXPECT_EQ(number_of(kernel.call(numbered(5)).value()), 5u);
    kernel.terminate().value();
  }
}

TEST_P(Launch, TwoProgramsLiveSideBySide) {
  auto runtime = open();
  Kernel echo = active(runtime, "echo", {.program = "echo"});
  Kernel core = active(runtime, "core", {.program = "core"});
  const std::vector<float> x{1, 2, 3};
  EXPECT_EQ(number_of(echo.call(numbered(9)).value()), 9u);
  EXPECT_THAT(core.call(ops::add(x, x)).value().floats(), ElementsAre(2, 4, 6));
  EXPECT_EQ(runtime.metrics().executors, 2u);
}

TEST_P(Launch, ByIdOperationsAnswerForUnknownKernels) {
  auto runtime = open();
  const auto message = numbered(1);
  EXPECT_EQ(runtime.activate("x").error(), Errc::kernel_not_found);
  EXPECT_EQ(runtime.deactivate("x").error(), Errc::kernel_not_found);
  EXPECT_EQ(runtime.terminate("x").error(), Errc::kernel_not_found);
  const Error missing = runtime.call("x", Bytes(message)).error();
  EXPECT_EQ(missing, Errc::kernel_not_found);
  EXPECT_EQ(missing.detail, "'x'");
  EXPECT_EQ(runtime.send("x", Bytes(message)).error(), Errc::kernel_not_found);
  EXPECT_EQ(runtime.receive("x", 1ms).error(), Errc::kernel_not_found);
  EXPECT_EQ(runtime.status("x").error(), Errc::kernel_not_found);
  EXPECT_EQ(runtime.metrics("x").error(), Errc::kernel_not_found);
  EXPECT_EQ(runtime.kernel("x").error(), Errc::kernel_not_found);
}

TEST_P(Launch, ByIdOperationsServeAKernelWithoutItsHandle) {
  auto runtime = open();
  ASSERT_TRUE(runtime.launch("a", {.program = "echo"}));
  const auto message = numbered(7);
  runtime.activate("a").value();
  EXPECT_EQ(runtime.status("a").value(), KernelStatus::active);
  EXPECT_EQ(number_of(runtime.call("a", Bytes(message)).value()), 7u);
  EXPECT_EQ(number_of(runtime.call("a", Bytes(message), 30s).value()), 7u);
  const MessageId id = runtime.send("a", Bytes(message)).value();
  EXPECT_EQ(runtime.receive("a", 10s).value().id(), id);
  EXPECT_EQ(runtime.metrics("a").value().replied, 3u);
  EXPECT_EQ(runtime.kernel("a").value().id(), "a");
  runtime.deactivate("a").value();
  runtime.terminate("a").value();
  EXPECT_TRUE(runtime.kernels().empty());
}

}  // namespace
}  // namespace ringkernel::test
