// get_or_compile: once for each content and shapes, and what is forgotten.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

RK_ON_EACH_BACKEND(FunctionCache);

/// x * factor on `count` floats.
Graph scale(float factor, std::uint32_t count) {
  Graph graph("scale");
  const std::vector<float> factors(count, factor);
  graph.output(graph.add(ops::mul(graph.input({DType::f32, {count}}), factors)));
  return graph;
}

/// Gets "scale by `factor`" and counts how often it had to be made.
struct Scaler {
  RingKernelRuntime& runtime;
  std::atomic<int> made{0};

  Result<CompiledFunction> get(int factor, std::uint32_t count = 4) {
    const TensorDesc input{DType::f32, {count}};
    return runtime.get_or_compile("scale by " + std::to_string(factor), {&input, 1}, [&] {
      ++made;
      return scale(static_cast<float>(factor), count);
    });
  }
};

float first(const CompiledFunction& function, std::uint32_t count = 4) {
  return function.execute(std::vector<float>(count, 10)).value().elements<float>()[0];
}

TEST_P(FunctionCache, CompilesOncePerContentAndShapes) {
  auto runtime = open();
  Scaler scaler{runtime};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(first(scaler.get(2).value()), 20);
    EXPECT_EQ(first(scaler.get(3).value()), 30);
    EXPECT_EQ(first(scaler.get(2, 8).value(), 8), 20);
  }
  EXPECT_EQ(scaler.made, 3);
  const RuntimeMetrics metrics = runtime.metrics();
  EXPECT_EQ(metrics.function_cache_misses, 3u);
  EXPECT_EQ(metrics.function_cache_hits, 6u);
  EXPECT_EQ(metrics.function_cache_evictions, 0u);
  EXPECT_EQ(metrics.functions_cached, 3u);
  EXPECT_EQ(metrics.kernels, 3u);
}

TEST_P(FunctionCache, ForgetsWhatWasNotUsedForLongest) {
  auto runtime = open({.functions_cached_max = 2});
  Scaler scaler{runtime};
  const CompiledFunction held = scaler.get(1).value();
  (void)scaler.get(2).value();
  (void)scaler.get(1).value();  // used again: 2 is the oldest
  (void)scaler.get(3).value();
  EXPECT_EQ(scaler.made, 3);
  (void)scaler.get(1).value();
  EXPECT_EQ(scaler.made, 3) << "the one that was used again was forgotten";
  (void)scaler.get(2).value();  // forgets 3
  EXPECT_EQ(scaler.made, 4);
  (void)scaler.get(3).value();  // forgets 1, which somebody holds
  const RuntimeMetrics metrics = runtime.metrics();
  EXPECT_EQ(metrics.function_cache_evictions, 3u);
  EXPECT_EQ(metrics.functions_cached, 2u);
  EXPECT_EQ(metrics.kernels, 3u) << "the forgotten ones and no others have ended";
  EXPECT_EQ(first(held), 10);
}

TEST_P(FunctionCache, KeepsWithinItsBytes) {
  auto runtime = open();
  const std::uint64_t one = runtime.compile(scale(2, 4096)).value().signature().arena_bytes;
  auto small = open({.function_cache_bytes_max = 2 * one});
  Scaler scaler{small};
  for (int factor = 0; factor < 5; ++factor) (void)scaler.get(factor, 4096).value();
  EXPECT_EQ(small.metrics().functions_cached, 2u);
  EXPECT_EQ(small.metrics().function_cache_bytes, 2 * one);
  EXPECT_EQ(small.metrics().function_cache_evictions, 3u);
  EXPECT_EQ(first(scaler.get(9, 16384).value(), 16384), 90);  // larger than the cache
  EXPECT_EQ(small.metrics().functions_cached, 0u);

  auto none = open({.functions_cached_max = 0});
  Scaler uncached{none};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(first(uncached.get(2).value()), 20);
  EXPECT_EQ(uncached.made, 3);
  EXPECT_EQ(none.metrics().kernels, 0u);
}

TEST_P(FunctionCache, RemembersNoErrors) {
  auto runtime = open();
  const TensorDesc input{DType::f32, {4}};
  int made = 0;
  const auto bad = [&]() -> Result<Graph> {
    ++made;
    return Error(Errc::invalid_argument, "no such text");
  };
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(runtime.get_or_compile("x", {&input, 1}, bad).error() == Errc::invalid_argument);
  EXPECT_EQ(made, 2);
  const auto other = runtime.get_or_compile("x", {&input, 1}, [] { return scale(1, 8); });
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().detail, ::testing::HasSubstr("other inputs"));
  EXPECT_EQ(runtime.metrics().functions_cached, 0u);
  EXPECT_EQ(runtime.metrics().kernels, 0u);
}

TEST_P(FunctionCache, ServesManyThreads) {
  auto runtime = open({.functions_cached_max = 3});
  Scaler scaler{runtime};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 60; ++i) {
        const int factor = (thread + i) % 5;
        const auto function = scaler.get(factor);
        ASSERT_TRUE(function) << function.error().text();
        ASSERT_EQ(first(*function), static_cast<float>(10 * factor));
      }
    });
  for (std::thread& thread : threads) thread.join();
  const RuntimeMetrics metrics = runtime.metrics();
  EXPECT_EQ(metrics.function_cache_hits + metrics.function_cache_misses, 240u);
  EXPECT_EQ(metrics.function_cache_misses, static_cast<std::uint64_t>(scaler.made));
  EXPECT_LE(metrics.functions_cached, 3u);
  EXPECT_EQ(metrics.kernels, metrics.functions_cached) << "a forgotten function has not ended";
}

// What a cached function holds would keep the runtime alive for ever (seen by LeakSanitizer).
TEST_P(FunctionCache, EndsWithItsRuntime) {
  CompiledFunction held;
  {
    auto runtime = open();
    Scaler scaler{runtime};
    held = scaler.get(2).value();
    (void)scaler.get(3).value();
    EXPECT_TRUE(runtime.shutdown());
    EXPECT_EQ(runtime.metrics().functions_cached, 0u);
    EXPECT_TRUE(scaler.get(4).error() == Errc::runtime_closed);
  }
  EXPECT_FALSE(held.execute(std::vector<float>(4)));
}

}  // namespace
}  // namespace ringkernel::test
