// Four work-groups that park all the time, for senders who come and go: every call is answered with
// its own data, whichever work-group it wakes, and whoever has to leave for that.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/backends.hpp"
#include "support/stress.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t rounds_full = 20'000;
constexpr std::uint64_t rounds_least = 300;
constexpr std::size_t thread_count = 4;
constexpr std::size_t kernel_count = 12;  // three of each work-group

class RuntimePool : public ::testing::TestWithParam<Transfer> {
 protected:
  RuntimePool() {
    for (std::size_t i = 0; i < kernel_count; ++i)
      kernels_.push_back(
          runtime_.launch("shared" + std::to_string(i), {.program = "echo", .auto_activate = true})
              .value());
  }

  void call(Dice& dice) {
    Kernel kernel = kernels_[dice.below(kernel_count)];
    const std::uint64_t number = dice.below(~std::uint64_t{0});
    const auto reply = kernel.call(numbered(number), 120s);
    if (!reply || number_of(*reply) != number) ++wrong_;
  }
  /// Fills a ring, so that a work-group has several passes to make.
  void burst(Dice& dice, Kernel& own) {
    const std::uint64_t count = 1 + dice.below(64);
    std::uint64_t sent = 0;
    while (sent < count && own.send(numbered(sent))) ++sent;
    for (std::uint64_t i = 0; i < sent; ++i) {
      const auto reply = own.receive(120s);
      if (!reply || number_of(*reply) != i) ++wrong_;
    }
  }
  void cycle(const std::string& id) {
    auto kernel = runtime_.launch(id, {.program = "echo", .auto_activate = true});
    const bool good = kernel && kernel->call(numbered(1), 120s) && kernel->deactivate() &&
                      kernel->activate() && kernel->call(numbered(2), 120s) && kernel->terminate();
    if (!good) ++wrong_;
  }
  void run(std::uint64_t seed, std::size_t thread, std::uint64_t rounds) {
    Dice dice(seed, thread);
    const std::string id = "own" + std::to_string(thread);
    Kernel own = runtime_.launch(id, {.program = "echo", .auto_activate = true}).value();
    // Until work-groups have parked often enough: otherwise nothing of this was tried.
    const auto slices_least = rounds / 10;
    for (std::uint64_t round = 0; round < rounds || runtime_.metrics().slices < slices_least;
         ++round) {
      const std::uint64_t choice = dice.below(100);
      if (choice < 70)
        call(dice);
      else if (choice < 85)
        burst(dice, own);
      else if (choice < 90)
        cycle(id + "." + std::to_string(round));
      else  // long enough for work-groups to park
        std::this_thread::sleep_for(std::chrono::microseconds(dice.below(200)));
    }
  }

  RingKernelRuntime runtime_ =
      OnEachBackend::open_on(
          host_backend(GetParam()),
          {.park_after = 20us, .transfer = GetParam(), .spin_for = 20us, .work_groups = 4})
          .value();
  std::vector<Kernel> kernels_;
  std::atomic<std::uint64_t> wrong_{0};
};

INSTANTIATE_TEST_SUITE_P(Transfers, RuntimePool,
                         ::testing::Values(Transfer::zero_copy, Transfer::dma, Transfer::sliced),
                         [](const auto& which) { return label_of(which.param); });

TEST_P(RuntimePool, AnswersEveryCallWhileWorkGroupsParkAndLeaveForEachOther) {
  const std::uint64_t seed = announce_seed();
  const std::uint64_t rounds = scaled(rounds_full, rounds_least);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < thread_count; ++thread)
    threads.emplace_back([&, thread] { run(seed, thread, rounds); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong_, 0u);
  EXPECT_TRUE(runtime_.shutdown());
}

}  // namespace
}  // namespace ringkernel::test
