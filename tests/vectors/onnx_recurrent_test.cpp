// An LSTM of several steps gives what one step gives, message after message.
#include <gmock/gmock.h>

#include <random>

#include "support/backends.hpp"
#include "vectors/onnx_network.hpp"

namespace ringkernel::onnx {
namespace {

RK_ON_EACH_BACKEND(OnnxRecurrentOn);

constexpr std::int64_t sequence_steps = 5, streams = 2, columns = 3, cells = 17;

/// x, h and c in; y and the last h and c out.
std::vector<std::byte> recurrent_file(std::int64_t steps) {
  std::mt19937 random(1);
  const auto weights = [&](const char* name, std::vector<std::int64_t> dims) {
    std::size_t count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
    return test::tensor({name, std::move(dims), test::any_floats(count, random)});
  };
  test::Message node;
  for (const char* const name : {"x", "W", "R", "B", "", "h", "c"}) node.text(1, name);
  for (const char* const name : {"y", "hn", "cn"}) node.text(2, name);
  node.text(4, "LSTM").message(5, test::integer_attribute("hidden_size", cells));
  return test::file(test::Message()
                        .message(1, node)
                        .message(5, weights("W", {1, 4 * cells, columns}))
                        .message(5, weights("R", {1, 4 * cells, cells}))
                        .message(5, weights("B", {1, 8 * cells}))
                        .message(11, test::info("x", {steps, streams, columns}))
                        .message(11, test::info("h", {1, streams, cells}))
                        .message(11, test::info("c", {1, streams, cells}))
                        .message(12, test::info("y", {steps, 1, streams, cells}))
                        .message(12, test::info("hn", {1, streams, cells}))
                        .message(12, test::info("cn", {1, streams, cells})));
}

TEST_P(OnnxRecurrentOn, GiveInOneMessageWhatTheyGiveStepByStep) {
  auto runtime = open();
  const CompiledFunction all =
      runtime.compile(read(recurrent_file(sequence_steps), {.name = "all"}).value()).value();
  const CompiledFunction one =
      runtime.compile(read(recurrent_file(1), {.name = "one"}).value()).value();
  std::mt19937 random(2);
  const std::vector<float> x = test::any_floats(sequence_steps * streams * columns, random);
  std::vector<float> h = test::any_floats(streams * cells, random);
  std::vector<float> c = test::any_floats(streams * cells, random);
  const auto run = [&](const CompiledFunction& function, std::span<const float> elements) {
    const auto& descs = function.signature().inputs;
    return function
        .execute(std::array{TensorView(descs[0], elements.data()), TensorView(descs[1], h.data()),
                            TensorView(descs[2], c.data())})
        .value();
  };
  const FunctionResult whole = run(all, x);
  std::vector<float> outputs;
  for (std::size_t step = 0; step < sequence_steps; ++step) {
    const FunctionResult part =
        run(one, std::span(x).subspan(step * streams * columns, streams * columns));
    const auto assign = [&](std::vector<float>& to, std::size_t output) {
      const auto from = part.elements<float>(output);
      to.assign(from.begin(), from.end());
    };
    assign(h, 1);
    assign(c, 2);
    outputs.insert(outputs.end(), h.begin(), h.end());
  }
  EXPECT_THAT(whole.elements<float>(0), ::testing::ElementsAreArray(outputs));
  EXPECT_THAT(whole.elements<float>(1), ::testing::ElementsAreArray(h));
  EXPECT_THAT(whole.elements<float>(2), ::testing::ElementsAreArray(c));
}

TEST(OnnxRecurrent, RefusesMoreStepsThanAGraphTakes) {
  EXPECT_TRUE(read(recurrent_file(128), {.name = "longest"}));
  EXPECT_THAT(read(recurrent_file(129)).error().text(),
              ::testing::HasSubstr("of 129 steps; 128 are read"));
}

}  // namespace
}  // namespace ringkernel::onnx
