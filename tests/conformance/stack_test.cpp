// How much of its stack a caller needs on the native backend, where slices run on it: every op,
// from threads with stacks of 16 KiB on. A stack lies in a mapping full of a pattern, above an
// inaccessible page as the C library puts it there, so that what jumps over the page is found too.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iostream>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/cases.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

constexpr std::size_t page = 4096;

/// A stack, and what lies below it.
class Stack {
 public:
  explicit Stack(std::size_t bytes) : bytes_(bytes) {
    void* const memory = mmap(nullptr, below + page + bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(memory);
    std::memset(memory_, pattern, below + page + bytes);
    mprotect(memory_ + below, page, PROT_NONE);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack() { munmap(memory_, below + page + bytes_); }

  /// Runs `job` on a thread with this stack. Returns how deep it went: the bytes from the stack's
  /// top, where the C library keeps what every thread has, to the lowest that was written.
  std::size_t run(const std::function<void()>& job) {
    std::memset(stack().data(), pattern, bytes_);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    EXPECT_EQ(pthread_attr_setstack(&attributes, stack().data(), bytes_), 0);
    pthread_t thread{};
    const auto start = [](void* argument) -> void* {
      (*static_cast<const std::function<void()>*>(argument))();
      return nullptr;
    };
    const int started =
        pthread_create(&thread, &attributes, start, const_cast<std::function<void()>*>(&job));
    pthread_attr_destroy(&attributes);
    EXPECT_EQ(started, 0);
    if (started != 0) return 0;
    pthread_join(thread, nullptr);
    const auto deepest = std::ranges::find_if_not(stack(), is_untouched);
    return static_cast<std::size_t>(stack().end() - deepest);
  }

  /// Bytes below the stack that were written.
  [[nodiscard]] std::size_t overwritten() const {
    return below -
           static_cast<std::size_t>(std::ranges::count_if(std::span(memory_, below), is_untouched));
  }

 private:
  static constexpr int pattern = 0xab;
  static constexpr std::size_t below = 1 << 20;

  static bool is_untouched(std::byte value) { return value == std::byte{pattern}; }
  [[nodiscard]] std::span<std::byte> stack() const { return {memory_ + below + page, bytes_}; }

  std::byte* memory_;
  const std::size_t bytes_;
};

/// Products that fill the workspace.
std::vector<Case> cases_of_all_sizes(Op op) {
  std::vector<Case> cases = cases_of(op);
  Dice dice(cases_seed, 1);
  if (op == Op::matmul)
    cases.push_back({op, {random_tensor({300, 600}, dice), random_tensor({600, 100}, dice)}, {}});
  return cases;
}

class StackOf : public ::testing::TestWithParam<std::size_t> {
 protected:
  static constexpr std::uint32_t ring_bytes = 1 << 22;

  void SetUp() override {
    if (is_sanitized("native"))
      RK_SKIP_UNSUPPORTED("a sanitizer's frames are several times as large");
    if (GetParam() < static_cast<std::size_t>(PTHREAD_STACK_MIN))
      RK_SKIP_UNSUPPORTED("no thread has so little here");
    runtime_.emplace(OnEachBackend::open_on(host_backend()).value());
    kernel_ =
        runtime_
            ->launch("ops",
                     {.input_bytes = ring_bytes, .output_bytes = ring_bytes, .auto_activate = true})
            .value();
  }

  /// Runs `job` until a slice has run on the thread with the stack, as it does where no other runs.
  /// Returns how deep it went.
  std::size_t run_as_device(const std::function<void()>& job) {
    std::size_t deepest = 0;
    for (bool ran_here = false; !ran_here && !HasFatalFailure();) {
      const std::uint64_t wake_ups = kernel_.metrics().wake_ups;
      deepest = std::max(deepest, stack_.run(job));
      ran_here = kernel_.metrics().wake_ups != wake_ups;
    }
    return deepest;
  }

  Stack stack_{GetParam()};
  std::optional<RingKernelRuntime> runtime_;
  Kernel kernel_;
};

TEST_P(StackOf, HoldsEveryOp) {
  std::size_t deepest = 0;
  for (const OpInfo& info : op_table()) {
    for (const Case& example : cases_of_all_sizes(info.op)) {
      SCOPED_TRACE(example.text());
      const Request request = example.request();
      Result<Reply> reply = Error(Errc::busy);
      const std::size_t depth = run_as_device([&] {
        reply = kernel_.call(request);
        ASSERT_TRUE(reply) << reply.error().text();
      });
      if (HasFatalFailure()) return;
      if (depth > deepest) std::cout << depth << " bytes: " << example.text() << '\n';
      deepest = std::max(deepest, depth);
    }
    EXPECT_EQ(stack_.overwritten(), 0u) << info.name;
  }
}

TEST_P(StackOf, HoldsAGraph) {
  const std::vector<float> weights(64 * 64, 0.25f);
  const TensorView square({64, 64}, weights);
  Graph graph("network");
  const auto input = graph.input({DType::f32, {64, 64}});
  const auto product = graph.add(ops::matmul(input, graph.constant(square)));
  const auto hidden = graph.add(ops::relu(graph.add(ops::add(product, square))));
  graph.output(graph.add(ops::sum(graph.add(ops::matmul(hidden, square)), {0})));
  const CompiledFunction function = runtime_->compile(graph).value();
  for (int repeat = 0; repeat < 3; ++repeat) {
    bool answered = false;
    stack_.run([&] { answered = function.execute(square).has_value(); });
    EXPECT_TRUE(answered);
    EXPECT_EQ(stack_.overwritten(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Bytes, StackOf,
                         ::testing::Values(16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10));

}  // namespace
}  // namespace ringkernel::test
