// The floor under big messages: two threads, two buffers, no protocol.
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cases.hpp"

namespace bench {
namespace {

constexpr std::size_t message_bytes = 64 * 1024;
constexpr std::uint32_t stop_word = ~std::uint32_t{0};

/// The CPUs that this process may use.
std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

void pin_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

struct alignas(128) Flag {
  std::atomic<std::uint32_t> word{0};
};

}  // namespace

/// What an echo has to do: the sender's bytes into shared memory, across and into other shared
/// memory, back and into the receiver's own.
Measurement two_thread_copy64k() {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) throw std::runtime_error("two CPUs are needed");
  std::vector<std::byte> message(message_bytes), there(message_bytes), back(message_bytes),
      reply(message_bytes);
  Flag request;
  Flag answer;
  // Started before this thread is pinned: a thread inherits the CPUs of the one that makes it.
  std::thread echo([&] {
    pin_this_thread(cpus[1]);
    for (std::uint32_t seen = 0;;) {
      // acquire: `there`; pairs with the release of the request
      const std::uint32_t word = request.word.load(std::memory_order_acquire);
      if (word == seen) continue;
      if (word == stop_word) return;
      seen = word;
      std::memcpy(back.data(), there.data(), message_bytes);
      answer.word.store(seen,
                        std::memory_order_release);  // `back`; pairs with the caller's acquire
    }
  });
  pin_this_thread(cpus[0]);
  Latencies latencies;
  for (std::uint32_t word = 1; latencies.more(); ++word) {
    message[word % message_bytes] ^= std::byte{1};
    const Stopwatch watch;
    std::memcpy(there.data(), message.data(), message_bytes);
    request.word.store(word, std::memory_order_release);  // `there`; pairs with the echo's acquire
    while (answer.word.load(std::memory_order_acquire) != word) {  // `back`; pairs with its release
    }
    std::memcpy(reply.data(), back.data(), message_bytes);
    latencies.add(watch.us());
    if (reply[word % message_bytes] != message[word % message_bytes])
      throw std::runtime_error("the copy differs");
  }
  request.word.store(stop_word, std::memory_order_release);
  echo.join();
  return latencies.result();
}

}  // namespace bench
