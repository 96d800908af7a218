// Many kernels one after the other, and many at once: nothing is left behind, and each one answers.
#include <unistd.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_future.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "support/backends.hpp"
#include "support/stress.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;

std::uint64_t entries(const char* folder) {
  std::uint64_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.exists();
  return count;
}

/// What this process holds at the moment.
struct Holdings {
  std::uint64_t threads = entries("/proc/self/task");
  std::uint64_t descriptors = entries("/proc/self/fd");
  std::uint64_t resident_bytes = resident();

  static std::uint64_t resident() {
    std::uint64_t total = 0;
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> total >> pages;
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }
};

/// `bytes_more`: what the heap and the driver's caches may have grown by, once.
void expect_back_at(const Holdings& before, [[maybe_unused]] std::uint64_t bytes_more) {
  // A thread that has been joined may take a moment to leave the process's list.
  for (int i = 0; i < 500 && entries("/proc/self/task") > before.threads; ++i)
    std::this_thread::sleep_for(10ms);
  const Holdings after;
  EXPECT_LE(after.threads, before.threads);
  EXPECT_LE(after.descriptors, before.descriptors);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  // Sanitizers keep freed memory back.
  EXPECT_LE(after.resident_bytes, before.resident_bytes + bytes_more);
#endif
}

RK_ON_EACH_BACKEND(RuntimeCycles);

TEST_P(RuntimeCycles, LaunchToTerminateLeavesNothingBehind) {
  auto runtime = open();
  const auto cycle = [&](std::uint64_t number) {
    Kernel kernel = active(runtime, "a");
    ASSERT_EQ(number_of(kernel.call(numbered(number)).value()), number);
    ASSERT_TRUE(kernel.send(numbered(number)));
    ASSERT_TRUE(kernel.terminate({.drain = number % 2 == 0}));
  };
  for (std::uint64_t i = 0; i < 100; ++i) cycle(i);
  const std::uint64_t free_bytes = runtime.metrics().arena_free_bytes;
  const Holdings before;
  const std::uint64_t count = scaled(1000, 100);
  for (std::uint64_t i = 0; i < count; ++i) cycle(i);
  expect_back_at(before, 2 << 20);  // two kilobytes a cycle are a leak
  EXPECT_EQ(runtime.metrics().arena_free_bytes, free_bytes);
  EXPECT_EQ(runtime.metrics().kernels, 0u);
}

TEST_P(RuntimeCycles, BuildToShutdownLeavesNothingBehind) {
  const auto cycle = [&](std::uint64_t number) {
    auto runtime = open({.arena_bytes = 8 << 20});
    Kernel parked = runtime.launch("launched", {.program = "echo"}).value();
    Kernel kernel = active(runtime, "a");
    ASSERT_EQ(number_of(kernel.call(numbered(number)).value()), number);
    if (number % 2 == 0) {
      ASSERT_TRUE(runtime.shutdown());
    }
  };
  for (std::uint64_t i = 0; i < 5; ++i) cycle(i);
  const Holdings before;
  const std::uint64_t count = scaled(is_of_host_threads(GetParam()) ? 1000 : 20, 5);
  for (std::uint64_t i = 0; i < count; ++i) cycle(i);
  expect_back_at(before, 8 << 20);
}

TEST_P(RuntimeCycles, AThousandLiveKernelsEachAnswer) {
  auto runtime = open({.arena_bytes = 64 << 20});
  const std::uint64_t count = std::min<std::uint64_t>(scaled(kernels_max, 128), kernels_max);
  std::vector<Kernel> kernels;
  for (std::uint64_t i = 0; i < count; ++i)
    kernels.push_back(active(runtime, "k" + std::to_string(i),
                             {.program = "echo",
                              .input_bytes = 4096,
                              .output_bytes = 4096,
                              .in_flight_max = 16,
                              .queue_max = 8}));
  EXPECT_EQ(runtime.metrics().kernels, count);
  for (std::uint64_t i = 0; i < count; ++i)
    ASSERT_EQ(number_of(kernels[i].call(numbered(i)).value()), i);
  // All of them at once.
  std::vector<std::future<Reply>> replies;
  for (std::uint64_t i = 0; i < count; ++i)
    replies.push_back(kernels[i].async_call(Bytes(numbered(i)), boost::asio::use_future));
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(number_of(replies[i].get()), i);
  // Plain messages to all of them, from several threads.
  std::vector<std::thread> threads;
  for (std::uint64_t first = 0; first < 4; ++first)
    threads.emplace_back([&, first] {
      for (std::uint64_t i = first; i < count; i += 4) ASSERT_TRUE(kernels[i].send(numbered(i)));
      for (std::uint64_t i = first; i < count; i += 4)
        ASSERT_EQ(number_of(kernels[i].receive(60s).value()), i);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(runtime.shutdown());
}

}  // namespace
}  // namespace ringkernel::test
