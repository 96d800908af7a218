// A long op beside short ones: what the others see of it, and how it ends before its end.
#include <gmock/gmock.h>

#include <array>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;

RK_ON_EACH_BACKEND(LongOps);

constexpr std::array<float, 4> one = {1, 1, 1, 1};

/// A kernel with a product of square matrices of ones into a third that holds -1, and another
/// kernel.
class Product {
 public:
  static constexpr std::uint64_t arena_bytes = 192 << 20;

  Product(RingKernelRuntime& runtime, std::uint32_t size)
      : size_(size),
        a_(filled(runtime, 1)),
        b_(filled(runtime, 1)),
        c_(filled(runtime, -1)),
        kernel(runtime.launch("long", {.auto_activate = true}).value()),
        other(runtime.launch("short", {.auto_activate = true}).value()) {}

  [[nodiscard]] Request request() const { return ops::matmul(a_, b_).into(c_); }
  [[nodiscard]] std::vector<float> result() const {
    std::vector<float> elements(std::size_t{size_} * size_);
    c_.read(elements, 60s).value();
    return elements;
  }
  void forget() { c_.write(std::vector<float>(std::size_t{size_} * size_, -1.0f)).value(); }
  void expect_whole() const { EXPECT_THAT(result(), Each(static_cast<float>(size_))); }
  /// Begun, and not finished.
  [[nodiscard]] bool is_partial() const {
    const std::vector<float> elements = result();
    return elements.front() != -1.0f && elements.back() == -1.0f;
  }
  void expect_other_answers() {
    const auto sum = other.call(ops::add(one, one));
    ASSERT_TRUE(sum) << sum.error().text();
    EXPECT_THAT(sum->floats(), Each(2.0f));
  }

 private:
  Tensor filled(RingKernelRuntime& runtime, float value) const {
    Tensor tensor = runtime.allocate({DType::f32, {size_, size_}}).value();
    tensor.write(std::vector<float>(std::size_t{size_} * size_, value)).value();
    return tensor;
  }

  std::uint32_t size_;
  Tensor a_, b_, c_;

 public:
  Kernel kernel;
  Kernel other;
};

/// How many calls of the other kernel end before the product does.
int calls_beside(Product& product) {
  EXPECT_TRUE(product.kernel.send(product.request()));
  for (int calls = 0;; ++calls) {
    const auto reply = product.kernel.receive(1ns);
    if (reply) return calls;
    EXPECT_EQ(reply.error(), Errc::deadline_exceeded);
    product.expect_other_answers();
  }
}

TEST_P(LongOps, LetTheCallsOfAnotherKernelThrough) {
  auto runtime = open({.arena_bytes = Product::arena_bytes, .work_groups = 1});
  Product product(runtime, 1024);
  constexpr int enough = 5;
  constexpr int tries = 50;  // a test's thread may be kept from the processor for a while
  int calls = 0;
  for (int i = 0; i < tries && calls < enough; ++i) {
    product.forget();
    calls = calls_beside(product);
    product.expect_whole();
  }
  EXPECT_GE(calls, enough);
}

TEST_P(LongOps, DoNotParkBeforeTheirEnd) {
  auto runtime = open(
      {.arena_bytes = Product::arena_bytes, .park_after = 1ns, .turn_for = 1ns, .work_groups = 1});
  Product product(runtime, 300);
  ASSERT_TRUE(product.kernel.send(product.request()));  // nobody rings again
  ASSERT_TRUE(product.kernel.receive(60s));
  product.expect_whole();
}

TEST_P(LongOps, GoOnInTheSlicesOfSeveralWorkGroups) {
  auto opened = open_on(
      GetParam(),
      {.arena_bytes = Product::arena_bytes, .park_after = 1ns, .turn_for = 1ns, .work_groups = 2});
  if (!opened && opened.error() == Errc::limit_exceeded) RK_SKIP_UNSUPPORTED(opened.error().text());
  auto& runtime = opened.value();
  Product product(runtime, 400);  // the other kernel parks all the time, and calls the next slice
  EXPECT_GE(calls_beside(product), 0);
  product.expect_whole();
}

TEST_P(LongOps, MakeWayForTheSlicesOfAnotherProgram) {
  auto runtime = open({.arena_bytes = Product::arena_bytes, .turn_for = 1ns, .work_groups = 1});
  Product product(runtime, 400);
  Kernel echo = active(runtime, "echo");
  ASSERT_TRUE(product.kernel.send(product.request()));
  Result<Reply> reply = Error(Errc::deadline_exceeded);
  while (!reply && reply.error() == Errc::deadline_exceeded) {
    ASSERT_TRUE(echo.call(numbered(7)));
    reply = product.kernel.receive(1ns);
  }
  ASSERT_TRUE(reply) << reply.error().text();
  product.expect_whole();
}

TEST_P(LongOps, AreGivenUpWhenTheirTimeIsOver) {
  auto runtime = open({.arena_bytes = Product::arena_bytes, .work_groups = 1});
  Product product(runtime, 2048);
  const auto reply = product.kernel.call(product.request(), {.timeout = 3ms});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error(), Errc::deadline_exceeded) << reply.error().text();
  // What is behind it in the ring is answered, and the product is not there.
  ASSERT_TRUE(product.kernel.call(ops::add(one, one)));
  EXPECT_EQ(product.result().back(), -1.0f);

  ASSERT_TRUE(product.kernel.send(product.request(), {.timeout = 3ms}));
  EXPECT_EQ(product.kernel.receive(60s).error(), Errc::deadline_exceeded);
  ASSERT_TRUE(product.kernel.call(ops::add(one, one)));
  EXPECT_EQ(product.result().back(), -1.0f);
}

TEST_P(LongOps, EndWithTheirKernel) {
  bool was_partial = false;
  constexpr int tries = 50;
  for (int i = 0; i < tries && !was_partial; ++i) {
    auto runtime = open({.arena_bytes = Product::arena_bytes, .work_groups = 1});
    Product product(runtime, 2048);
    const auto id = product.kernel.send(product.request());
    ASSERT_TRUE(id);
    for (int calls = 0; calls < 5; ++calls) product.expect_other_answers();
    ASSERT_TRUE(product.kernel.terminate());
    was_partial = product.is_partial();
    product.expect_other_answers();
    // Its place is another kernel's, which begins with nothing.
    Kernel next = active(runtime, "next", {});
    const auto sum = next.call(ops::add(one, one));
    ASSERT_TRUE(sum) << sum.error().text();
    EXPECT_THAT(sum->floats(), Each(2.0f));
  }
  EXPECT_TRUE(was_partial);
}

TEST_P(LongOps, AreFinishedBeforeTheirKernelRests) {
  auto runtime = open({.arena_bytes = Product::arena_bytes, .turn_for = 1ns, .work_groups = 1});
  Product product(runtime, 500);
  ASSERT_TRUE(product.kernel.send(product.request()));
  ASSERT_TRUE(product.kernel.send(ops::add(one, one)));
  for (int calls = 0; calls < 3; ++calls) product.expect_other_answers();
  ASSERT_TRUE(product.kernel.deactivate());
  product.expect_other_answers();
  const auto first = product.kernel.receive(1ns);
  if (first) {
    product.expect_whole();  // the record in hand was finished
  } else {
    EXPECT_EQ(first.error(), Errc::deadline_exceeded);  // it was not begun
  }
  ASSERT_TRUE(product.kernel.activate());
  if (!first) {
    ASSERT_TRUE(product.kernel.receive(60s));
  }
  product.expect_whole();
  ASSERT_TRUE(product.kernel.receive(60s));
}

/// Several long ops have their turns one after the other.
TEST_P(LongOps, OfSeveralKernelsShareTheirExecutor) {
  auto runtime = open({.arena_bytes = Product::arena_bytes, .turn_for = 1ns, .work_groups = 1});
  std::vector<Kernel> kernels;
  std::vector<Tensor> results;
  constexpr std::uint32_t size = 300;
  Tensor a = runtime.allocate({DType::f32, {size, size}}).value();
  a.write(std::vector<float>(std::size_t{size} * size, 1.0f)).value();
  for (int i = 0; i < 5; ++i) {
    kernels.push_back(active(runtime, "long" + std::to_string(i), {}));
    results.push_back(runtime.allocate({DType::f32, {size, size}}).value());
    ASSERT_TRUE(kernels.back().send(ops::matmul(a, a).into(results.back())));
  }
  for (Kernel& kernel : kernels) ASSERT_TRUE(kernel.receive(60s));
  for (Tensor& result : results) {
    std::vector<float> elements(std::size_t{size} * size);
    result.read(elements).value();
    EXPECT_THAT(elements, Each(static_cast<float>(size)));
  }
}

}  // namespace
}  // namespace ringkernel::test
