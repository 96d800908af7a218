// Executors of several work-groups, among which the ring kernels are divided.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <tuple>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// PoCL keeps a work-group resident on each worker thread but one. Read when its library is loaded.
constexpr const char* pocl_workers = "6";
const bool workers_set = setenv("POCL_MAX_PTHREAD_COUNT", pocl_workers, 1) == 0;

using PoolCase = std::tuple<std::pair<const char*, Transfer>, std::uint32_t>;

class Pool : public ::testing::TestWithParam<PoolCase> {
 protected:
  [[nodiscard]] static std::uint32_t work_groups() { return std::get<1>(GetParam()); }

  void SetUp() override {
    const auto runtime = OnEachBackend::open_on(backend(), options({}));
    if (!runtime && backend() == "opencl") RK_SKIP_WITHOUT("opencl", runtime.error().text());
    ASSERT_TRUE(runtime) << runtime.error().text();
    EXPECT_EQ(runtime->metrics().work_groups, work_groups());
  }

  [[nodiscard]] static RingKernelRuntime open(const RuntimeOptions& wanted = {}) {
    return OnEachBackend::open_on(backend(), options(wanted)).value();
  }
  /// Kernels one after the other belong to one work-group after the other.
  [[nodiscard]] static std::vector<Kernel> launch(RingKernelRuntime& runtime, std::size_t count,
                                                  const std::string& program = "echo") {
    std::vector<Kernel> kernels;
    for (std::size_t i = 0; i < count; ++i)
      kernels.push_back(runtime
                            .launch(program + std::to_string(i), {.program = program,
                                                                  .input_bytes = 16 * 1024,
                                                                  .output_bytes = 16 * 1024,
                                                                  .auto_activate = true})
                            .value());
    return kernels;
  }

 private:
  static std::string backend() { return std::get<0>(GetParam()).first; }
  static RuntimeOptions options(RuntimeOptions wanted) {
    wanted.work_groups = work_groups();
    wanted.transfer = std::get<0>(GetParam()).second;
    wanted.arena_bytes = 16 << 20;
    return wanted;
  }
};

std::string label(const ::testing::TestParamInfo<PoolCase>& info) {
  const auto& [backend, transfer] = std::get<0>(info.param);
  return label_of(std::string_view(backend)) + "_" + label_of(transfer) + "_" +
         std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Backends, Pool,
                         ::testing::Combine(::testing::ValuesIn(backends_with_strategies()),
                                            ::testing::Values(1u, 2u, 3u, 4u)),
                         label);

/// Keeps a kernel's ring from running empty until it is told to stop; ends when every message is
/// answered, or the kernel is gone.
class Flood {
 public:
  explicit Flood(Kernel kernel) : kernel_(std::move(kernel)), thread_([this] { run(); }) {}
  ~Flood() { stop(); }

  std::uint64_t answered() const { return answered_; }
  error_code stop() {
    stop_ = true;
    return end();
  }
  /// Of a kernel that is gone.
  error_code end() {
    if (thread_.joinable()) thread_.join();
    return error_;
  }

 private:
  void run() {
    const auto message = numbered(7);
    std::uint64_t sent = 0;
    while (!stop_ || answered_ < sent) {
      while (!stop_ && sent < answered_ + 32) {
        if (const auto id = kernel_.send(message); !id) return fail(id.error().code);
        ++sent;
      }
      const auto reply = kernel_.receive(60s);
      if (!reply) return fail(reply.error().code);
      if (number_of(*reply) != 7) return fail(make_error_code(Errc::internal));
      ++answered_;
    }
  }
  void fail(error_code error) { error_ = error; }

  Kernel kernel_;
  error_code error_;
  std::atomic<std::uint64_t> answered_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

template <class Body>
void on_threads(std::size_t count, const Body& body) {
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < count; ++thread)
    threads.emplace_back([&body, thread] { body(thread); });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Pool, ServesManyKernelsForSeveralThreads) {
  auto runtime = open();
  const std::vector<Kernel> kernels = launch(runtime, 19);
  on_threads(4, [&](std::size_t thread) {
    for (std::uint64_t i = 0; i < 25 * kernels.size(); ++i) {
      Kernel kernel = kernels[(i + thread) % kernels.size()];
      const auto reply = kernel.call(numbered(thread << 32 | i));
      ASSERT_TRUE(reply) << reply.error().text();
      ASSERT_EQ(number_of(*reply), thread << 32 | i);
    }
  });
  for (const Kernel& kernel : kernels) EXPECT_EQ(kernel.metrics().messages_in, 100u);
}

TEST_P(Pool, RunsOps) {
  auto runtime = open();
  const std::vector<Kernel> kernels = launch(runtime, 5, "core");
  on_threads(2, [&](std::size_t thread) {
    for (std::size_t i = 0; i < 100; ++i) {
      Kernel kernel = kernels[(i + thread) % kernels.size()];
      const std::vector<float> x{1, static_cast<float>(i)};
      const auto reply = kernel.call(ops::add(x, x));
      ASSERT_TRUE(reply) << reply.error().text();
      ASSERT_THAT(reply->floats(), ElementsAre(2, 2 * static_cast<float>(i)));
    }
  });
}

TEST_P(Pool, KernelsComeAndGoBesideEachOther) {
  auto runtime = open({.park_after = 100us});
  on_threads(3, [&](std::size_t thread) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::string id = std::to_string(thread) + "." + std::to_string(i % 3);
      auto kernel = runtime.launch(id, {.program = "echo", .auto_activate = true});
      ASSERT_TRUE(kernel) << kernel.error().text();
      ASSERT_EQ(number_of(kernel->call(numbered(i)).value()), i);
      ASSERT_TRUE(kernel->deactivate());
      ASSERT_TRUE(kernel->send(numbered(i + 1)));
      ASSERT_TRUE(kernel->activate());
      ASSERT_EQ(number_of(kernel->receive(60s).value()), i + 1);
      ASSERT_TRUE(kernel->terminate());
    }
  });
  EXPECT_TRUE(runtime.kernels().empty());
}

// Its work-group parks between two calls, and can be brought back only when the busy one leaves.
TEST_P(Pool, AParkedWorkGroupIsWokenBesideABusyOne) {
  auto runtime = open({.park_after = 20us});
  const std::vector<Kernel> kernels = launch(runtime, work_groups() + 1);
  Flood flood(kernels[0]);
  const std::uint64_t slices = runtime.metrics().slices;
  // With one work-group nothing has to be launched for the others; with more it does, each time.
  const std::uint64_t wanted = work_groups() == 1 ? 0 : 20;
  const auto deadline = std::chrono::steady_clock::now() + 120s;
  for (std::uint64_t i = 0; i < 50 || runtime.metrics().slices < slices + wanted; ++i) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << runtime.metrics().slices - slices;
    Kernel kernel = kernels[1 + i % work_groups()];
    const auto reply = kernel.call(numbered(i), 60s);
    ASSERT_TRUE(reply) << reply.error().text();
    ASSERT_EQ(number_of(*reply), i);
    std::this_thread::sleep_for(200us);  // long enough to park, mostly
  }
  const std::uint64_t answered = flood.answered();
  while (flood.answered() == answered) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the busy one came to a stop";
    std::this_thread::yield();
  }
  EXPECT_FALSE(flood.stop());
}

TEST_P(Pool, ShutdownEndsBusyWorkGroups) {
  auto runtime = open();
  std::vector<std::unique_ptr<Flood>> floods;
  for (const Kernel& kernel : launch(runtime, work_groups()))
    floods.push_back(std::make_unique<Flood>(kernel));
  for (const auto& flood : floods)
    while (flood->answered() == 0) std::this_thread::yield();
  const auto ended = runtime.shutdown();
  EXPECT_TRUE(ended) << ended.error().text();
  for (const auto& flood : floods) EXPECT_EQ(flood->end(), Errc::runtime_closed);
}

TEST_P(Pool, RestartBringsAllWorkGroupsBack) {
  auto runtime = open();
  for (const Kernel& kernel : launch(runtime, 4)) {
    Kernel copy = kernel;
    ASSERT_TRUE(copy.call(numbered(1)));
  }
  ASSERT_TRUE(runtime.restart("echo"));
  for (const Kernel& kernel : launch(runtime, 4)) {
    Kernel copy = kernel;
    EXPECT_EQ(number_of(copy.call(numbered(2)).value()), 2u);
  }
}

// On PoCL four and four do not fit on six workers: the two leave for each other.
TEST_P(Pool, TwoProgramsShareTheDevice) {
  auto runtime = open({.park_after = 10min});
  const std::vector<Kernel> echo = launch(runtime, 4);
  const std::vector<Kernel> core = launch(runtime, 4, "core");
  on_threads(2, [&](std::size_t thread) {
    const std::vector<float> x{1, 2};
    for (std::uint64_t i = 0; i < 50; ++i) {
      Kernel kernel = thread == 0 ? echo[i % 4] : core[i % 4];
      const auto reply =
          thread == 0 ? kernel.call(numbered(i), 60s) : kernel.call(ops::add(x, x), 60s);
      ASSERT_TRUE(reply) << reply.error().text();
    }
  });
}

TEST(PoolLimits, MoreWorkGroupsThanThereCanBeAreRefusedWithTheLimit) {
  const auto runtime = OnEachBackend::open_on("native", {.work_groups = 65});
  ASSERT_TRUE(runtime.has_error());
  EXPECT_EQ(runtime.error(), Errc::limit_exceeded);
  EXPECT_THAT(runtime.error().detail, HasSubstr("65"));
  EXPECT_THAT(runtime.error().detail, HasSubstr("64"));
  EXPECT_EQ(OnEachBackend::open_on("native", {.work_groups = 64})->metrics().work_groups, 64u);
}

TEST(PoolLimits, MoreThanADeviceKeepsResidentAreRefusedWithWhatItKeeps_opencl) {
  const auto all = OnEachBackend::open_on("opencl", {.transfer = Transfer::zero_copy});
  if (!all) RK_SKIP_WITHOUT("opencl", all.error().text());
  const auto runtime = OnEachBackend::open_on(
      "opencl", {.transfer = Transfer::zero_copy, .work_groups = work_groups_max});
  if (runtime) RK_SKIP_UNSUPPORTED("the device keeps as many as there can be");
  EXPECT_EQ(runtime.error(), Errc::limit_exceeded);
  EXPECT_THAT(runtime.error().detail, HasSubstr("resident together"));
  EXPECT_THAT(runtime.error().detail, HasSubstr(all->metrics().device));
}

TEST(PoolLimits, ALaunchNamesWhatTheDeviceHas) {
  auto runtime = OnEachBackend::open_on("native", {.work_groups = 3}).value();
  const auto kernel = runtime.launch("a", Dim3{2, 1, 1}, Dim3{1, 8, 1});
  ASSERT_TRUE(kernel.has_error());
  EXPECT_EQ(kernel.error(), Errc::limit_exceeded);
  for (const char* part : {"grid 2x1x1", "block 1x8x1", "up to 64 work-groups",
                           "up to 1 work-items", "an executor has 3"})
    EXPECT_THAT(kernel.error().detail, HasSubstr(part));
}

}  // namespace
}  // namespace ringkernel::test
