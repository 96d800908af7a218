// Requests that are made again and again: prepared once, their results in place.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(PreparedCalls);

TEST_P(PreparedCalls, AnswerEachCallsOperands) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  const std::vector<float> any{0, 0};
  PreparedCall add = kernel.prepare(ops::add(any, any)).value();
  for (float i = 0; i < 100; ++i) {
    const std::array<float, 2> a{i, 2 * i};
    const std::vector<float> b{1, i};
    const ResultView sum = add.call({a, b}).value();
    ASSERT_EQ(sum.size(), 1u);
    EXPECT_EQ(sum.output(0).desc, (TensorDesc{DType::f32, {2}}));
    EXPECT_THAT(sum.elements<float>(), ElementsAre(i + 1, 3 * i));
    EXPECT_TRUE(sum.elements<std::int32_t>().empty());
  }
  EXPECT_EQ(kernel.metrics().replied, 100u);
}

TEST_P(PreparedCalls, HaveTheBytesOfPlainOnes) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  std::vector<float> images(28 * 28), filter(3 * 3 * 8);
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i % 17) / 7 - 1;
  for (std::size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<float>(i % 11) / 3 - 1;
  const Request request =
      ops::conv2d({{1, 28, 28, 1}, images}, {{3, 3, 1, 8}, filter}, {.strides = {2, 2}});
  const Reply plain = kernel.call(request).value();
  PreparedCall prepared = kernel.prepare(request).value();
  const ResultView result = prepared.call({images, filter}).value();
  EXPECT_EQ(result.output(0).desc, plain.tensor().desc);
  EXPECT_TRUE(std::ranges::equal(result.elements<float>(), plain.floats()));
}

TEST_P(PreparedCalls, GiveTheResultWhereItIsWanted) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  std::vector<std::int64_t> x{3, -4, 5}, result(3);
  PreparedCall copy = kernel.prepare(ops::copy(x)).value();
  ASSERT_TRUE(copy.call_into({result}, {x}));
  EXPECT_EQ(result, x);
  // Into its own operand as well: the reply comes when that has been read.
  PreparedCall twice = kernel.prepare(ops::add(x, x)).value();
  ASSERT_TRUE(twice.call_into({x}, {x, x}));
  EXPECT_THAT(x, ElementsAre(6, -8, 10));
}

TEST_P(PreparedCalls, RefuseOtherOperandsAndOtherPlaces) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  std::vector<float> two(2), three(3);
  std::vector<std::int32_t> integers(2);
  PreparedCall add = kernel.prepare(ops::add(two, two)).value();
  const auto expect = [](const auto& result, Errc code, const char* text) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(), code);
    EXPECT_THAT(result.error().text(), EndsWith(text));
  };
  expect(add.call({two}), Errc::arity_mismatch,
         "needed: 'add' was prepared for 2 operands; the call gives 1");
  expect(add.call({two, three}), Errc::element_count_mismatch,
         "'add' was prepared for 2 f32 as operand 1; the call gives 3 f32");
  expect(add.call({integers, two}), Errc::dtype_mismatch,
         "two element types that must be equal differ: 'add' was prepared for 2 f32 as operand 0; "
         "the call gives 2 i32");
  expect(add.call_into({three}, {two, two}), Errc::element_count_mismatch,
         "'add' was prepared for 2 f32 as result 0; the call gives 3 f32");
  expect(add.call_into({integers}, {two, two}), Errc::dtype_mismatch,
         "'add' was prepared for 2 f32 as result 0; the call gives 2 i32");
  expect(add.call_into({two, two}, {two, two}), Errc::arity_mismatch,
         "another number of operands or results is needed: 'add' was prepared for 1 result; the "
         "call gives 2 places");
  const auto unlike = kernel.prepare(ops::add(two, three));
  EXPECT_EQ(unlike.error(), Errc::broadcast_failure);
  EXPECT_THAT(unlike.error().detail, HasSubstr("add"));
  EXPECT_EQ(kernel.metrics().accepted, 0u);
  EXPECT_TRUE(add.call({two, two}));
}

TEST_P(PreparedCalls, SayWhatTheDeviceFoundWrong) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  const std::vector<float> rows{1, 2, 3};
  PreparedCall gather = kernel.prepare(ops::gather(rows, std::vector<std::int32_t>{0, 0})).value();
  const std::vector<std::int32_t> wrong{0, 7}, right{2, 0};
  const auto refused = gather.call({rows, wrong});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::out_of_bounds);
  EXPECT_THAT(refused.error().detail, HasSubstr("index 7 at position 1"));
  EXPECT_THAT(gather.call({rows, right}).value().elements<float>(), ElementsAre(3, 1));
}

TEST_P(PreparedCalls, KeepTheirResidentTensors) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  const std::vector<float> start{10, 20, 30, 40}, step{1, 2, 3, 4};
  Tensor total = runtime.allocate({DType::f32, {4}}).value();
  ASSERT_TRUE(total.write(start));
  PreparedCall accumulate = kernel.prepare(ops::add(total, step).into(total)).value();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(accumulate.call({step}).value().size(), 0u);
  std::vector<float> sums(4);
  ASSERT_TRUE(total.read(sums));
  EXPECT_THAT(sums, ElementsAre(13, 26, 39, 52));
  PreparedCall read = kernel.prepare(ops::copy(total)).value();
  EXPECT_THAT(read.call(std::span<const Elements>()).value().elements<float>(),
              ElementsAre(13, 26, 39, 52));
  ASSERT_TRUE(total.deallocate());
  EXPECT_EQ(accumulate.call({step}).error(), Errc::tensor_not_found);
}

TEST_P(PreparedCalls, OfAFunctionGiveAllItsOutputs) {
  auto runtime = open();
  Graph graph("both");
  const auto x = graph.input({DType::f32, {1, 2}});
  const auto y = graph.input({DType::f32, {2}});
  graph.output(graph.add(ops::add(x, y)));
  graph.output(graph.add(ops::mul(x, y)));
  PreparedCall both = [&] {  // it holds the function
    return runtime.compile(graph).value().prepare().value();
  }();
  const std::vector<float> a{2, 3}, b{4, 5};
  const ResultView result = both.call({a, b}).value();
  ASSERT_EQ(result.size(), 2u);
  EXPECT_THAT(result.elements<float>(0), ElementsAre(6, 8));
  EXPECT_THAT(result.elements<float>(1), ElementsAre(8, 15));
  std::vector<float> sums(2), products(2);
  ASSERT_TRUE(both.call_into({sums, products}, {b, b}));
  EXPECT_THAT(sums, ElementsAre(8, 10));
  EXPECT_THAT(products, ElementsAre(16, 25));
  EXPECT_THAT(both.call({a}).error().detail, HasSubstr("'both' was prepared for 2 operands"));
}

TEST_P(PreparedCalls, EndWithTheirKernelAndTheirTime) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  std::vector<float> x{1, 2}, result{-1, -1};
  PreparedCall neg = kernel.prepare(ops::neg(x)).value();
  ASSERT_TRUE(kernel.deactivate());
  EXPECT_EQ(neg.call_into({result}, {x}, {.timeout = 10ms}).error(), Errc::deadline_exceeded);
  ASSERT_TRUE(kernel.activate());  // it is answered, to nobody
  EXPECT_THAT(neg.call({x}).value().elements<float>(), ElementsAre(-1, -2));
  EXPECT_THAT(result, Each(-1));
  ASSERT_TRUE(kernel.terminate());
  EXPECT_EQ(neg.call({x}).error(), Errc::kernel_terminated);
  ASSERT_TRUE(runtime.shutdown());
  EXPECT_FALSE(neg.call({x}));
  const PreparedCall moved(std::move(neg));
  EXPECT_EQ(neg.call({x}).error(), Errc::kernel_not_found);  // NOLINT: moved from on purpose
}

TEST_P(PreparedCalls, WaitForRoomAsOthersDo) {
  auto runtime = open();
  Kernel kernel =
      runtime.launch("small", {.input_bytes = 4096, .in_flight_max = 1, .queue_max = 1}).value();
  std::vector<float> x(100, 1.0f);
  PreparedCall neg = kernel.prepare(ops::neg(x)).value();
  ASSERT_TRUE(kernel.send(ops::neg(x)));  // takes the only place until it has been received
  ASSERT_TRUE(kernel.activate());
  EXPECT_EQ(neg.call({x}, {.timeout = 1ms}).error(), Errc::deadline_exceeded);
  std::thread receiver([&] { EXPECT_TRUE(kernel.receive(10s)); });
  EXPECT_THAT(neg.call({x}).value().elements<float>(), Each(-1));
  receiver.join();
  Kernel bytes = runtime.launch("bytes", {.program = "echo", .auto_activate = true}).value();
  EXPECT_EQ(bytes.prepare(ops::neg(x)).error(), Errc::unsupported_operation);
}

TEST_P(PreparedCalls, BelongToOneThreadAtATime) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "ops", {});
  std::vector<float> x{1, 2}, y{5, 6}, place(2);
  PreparedCall neg = kernel.prepare(ops::neg(x)).value();
  std::thread first(
      [&] { EXPECT_THAT(neg.call({x}).value().elements<float>(), ElementsAre(-1, -2)); });
  while (kernel.metrics().accepted == 0) std::this_thread::yield();
  for (const Error& error : {neg.call({y}, {.timeout = 1ms}).error(),
                             neg.call_into({place}, {y}, {.timeout = 1ms}).error()}) {
    EXPECT_EQ(error, Errc::busy) << error.text();
    EXPECT_THAT(error.detail, HasSubstr("'neg' is under way"));
    EXPECT_THAT(error.detail, HasSubstr("one thread at a time: prepare one for each"));
  }
  EXPECT_TRUE(kernel.activate());
  first.join();
  EXPECT_FALSE(neg.call({place, y}));  // however the call before ended
  EXPECT_FALSE(neg.call({y}, {.timeout = -1ms}));
  EXPECT_THAT(neg.call({y}).value().elements<float>(), ElementsAre(-5, -6));
}

TEST_P(PreparedCalls, AreTriedWhereNobodyHasToWait) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  std::vector<float> x{1, 2}, place(2);
  PreparedCall neg = kernel.prepare(ops::neg(x)).value();
  const auto tried = [&] {
    const ElementsOut to(place);
    const Elements from(x);
    return neg.try_call_into({&to, 1}, {&from, 1});
  };
  // Behind a call natively, once the resident slice has gone; elsewhere never.
  const bool runs_here = runtime.metrics().backend == "native";
  std::uint64_t calls = 0;
  bool ran = false;
  for (; !ran && calls < (runs_here ? 1'000'000 : 3); ++calls) {
    ASSERT_TRUE(neg.call({x}));
    x[0] += 1;
    ran = tried().value();
  }
  EXPECT_EQ(ran, runs_here) << runtime.metrics().backend << runtime.metrics().transfer;
  if (ran) {
    EXPECT_THAT(place, ElementsAre(-x[0], -2));
  }
  EXPECT_EQ(kernel.metrics().accepted, calls + (ran ? 1u : 0u)) << "what is not run is not sent";
  // A message in flight, or a kernel that rests: nothing to run now.
  kernel.deactivate().value();
  EXPECT_FALSE(tried().value());
  ASSERT_TRUE(kernel.send(ops::neg(x)));
  kernel.activate().value();
  EXPECT_FALSE(tried().value()) << "its outcome was not received yet";
  EXPECT_TRUE(kernel.receive(10s));
  const ElementsOut small{std::span<float>(place).first(1)};
  const Elements from(x);
  for (int i = 0; i < 100; ++i) {
    const Result<bool> wrong = neg.try_call_into({&small, 1}, {&from, 1});
    EXPECT_TRUE(!wrong || !*wrong) << "a place of another size takes nothing";
  }
  kernel.terminate().value();
  EXPECT_FALSE(tried().has_value() && *tried());
}

TEST_P(PreparedCalls, ThatTookLongAreNotTriedAgainSoon) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  std::vector<float> x{1, 2}, place(2);
  PreparedCall neg = kernel.prepare(ops::neg(x)).value();
  const ElementsOut to(place);
  const Elements from(x);
  const auto tried = [&](std::chrono::nanoseconds longest) {
    return neg.try_call_into({&to, 1}, {&from, 1}, longest).value();
  };
  while (!tried(0ns)) ASSERT_TRUE(neg.call({x}));  // longer than that it took
  std::size_t refused = 0;
  while (!tried(1h)) {
    ++refused;
    ASSERT_TRUE(neg.call({x}));
  }
  EXPECT_GE(refused, 64u);
}

TEST_P(PreparedCalls, OfAnEmptyRequestAnswerAsItsCallDoes) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  EXPECT_EQ(kernel.call(Request{}).value().tensor().desc.dtype, DType::none);  // a noop
  PreparedCall noop = kernel.prepare(Request{}).value();
  EXPECT_EQ(noop.call(std::span<const Elements>()).value().size(), 0u);
  Request without_operands;
  without_operands.op = Op::add;
  EXPECT_EQ(kernel.prepare(without_operands).error().text(),
            kernel.call(without_operands).error().text());
}

TEST_P(PreparedCalls, OfSeveralThreadsAreTheirOwn) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  std::vector<std::thread> threads;
  std::array<int, 3> wrong{};
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      std::vector<float> x(16 * (t + 1)), twice(x.size());
      PreparedCall add = kernel.prepare(ops::add(x, x)).value();
      for (int i = 0; i < 2000; ++i) {
        std::ranges::fill(x, static_cast<float>(i * 3) + static_cast<float>(t));
        const bool ok = i % 2 == 0 ? static_cast<bool>(add.call_into({twice}, {x, x}))
                                   : std::ranges::copy(add.call({x, x}).value().elements<float>(),
                                                       twice.begin())
                                             .out == twice.end();
        wrong[t] += !ok || !std::ranges::all_of(twice, [&](float y) { return y == 2 * x[0]; });
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, Each(0));
}

}  // namespace
}  // namespace ringkernel::test
