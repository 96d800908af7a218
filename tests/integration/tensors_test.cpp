// Resident tensors: allocation, copies in and out, ops on them, and that nothing of a tensor goes
// while the device may still touch it.
#include <gmock/gmock.h>

#include <boost/asio/use_future.hpp>
#include <numeric>

#include "integration/sizes.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(Tensors);

std::vector<float> contents(const Tensor& tensor) {
  std::vector<float> elements(tensor.desc().element_count());
  tensor.read(elements).value();
  return elements;
}

Tensor tensor_of(RingKernelRuntime& runtime, const std::vector<float>& elements) {
  Tensor tensor =
      runtime.allocate({DType::f32, {static_cast<std::uint32_t>(elements.size())}}).value();
  tensor.write(elements).value();
  return tensor;
}

/// Waits, by looking for answers that nobody has taken, until so many tensors are left.
void wait_for_tensors(RingKernelRuntime& runtime, std::uint64_t count) {
  // Each round makes the runtime look: a read waits for writers, here those of its own tensor.
  while (runtime.metrics().tensors != count) {
    // No room for so much: the runtime takes the answers that there are before it says so.
    ASSERT_TRUE(runtime.allocate({DType::f32, {1u << 31}}).has_error());
  }
}

TEST_P(Tensors, AreZeroAndKeepWhatIsWritten) {
  auto runtime = open();
  Tensor floats = runtime.allocate({DType::f32, {2, 4}}).value();
  EXPECT_EQ(floats.desc().text(), "f32[2, 4]");
  EXPECT_THAT(contents(floats), Each(0.0f));
  floats.write(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}).value();
  EXPECT_THAT(contents(floats), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));

  Tensor scalar = runtime.allocate({DType::f32, scalar_shape(runtime)}).value();
  EXPECT_THAT(contents(scalar), Each(0.0f));

  Tensor integers = runtime.allocate({DType::i64, {2}}).value();
  integers.write(std::vector<std::int64_t>{-1, 1}).value();
  std::vector<std::byte> bytes(16);
  integers.read(bytes).value();
  EXPECT_EQ(bytes[0], std::byte{0xff});
  EXPECT_EQ(bytes[15], std::byte{0});
}

TEST_P(Tensors, RefuseOtherElementsAndOtherCounts) {
  auto runtime = open();
  Tensor tensor = runtime.allocate(four_floats).value();
  const auto other_type = tensor.write(std::vector<std::int32_t>(4));
  EXPECT_EQ(other_type.error(), Errc::dtype_mismatch);
  EXPECT_THAT(other_type.error().text(), HasSubstr("f32[4], against elements of i32"));
  const auto other_count = tensor.write(std::vector<float>(5));
  EXPECT_EQ(other_count.error(), Errc::element_count_mismatch);
  std::vector<std::byte> short_by_one(15);
  EXPECT_EQ(tensor.read(short_by_one).error(), Errc::element_count_mismatch);
}

TEST_P(Tensors, RefuseShapesThatAreNone) {
  auto runtime = open();
  EXPECT_EQ(runtime.allocate({DType::none, {4}}).error(), Errc::invalid_dtype);
  EXPECT_EQ(runtime.allocate({DType::f32, {4, 0}}).error(), Errc::invalid_dimension);
  // The product of the extents is 0 in 64 bits.
  const std::uint32_t huge = 1u << 31;
  EXPECT_EQ(runtime.allocate({DType::f32, {huge, huge, 4}}).error(), Errc::allocation_failure);
}

TEST_P(Tensors, AnswerE6004WithWhatIsFree) {
  auto runtime = open();
  const RuntimeMetrics before = runtime.metrics();
  const auto tensor = runtime.allocate({DType::i64, {1u << 31}});
  ASSERT_TRUE(tensor.has_error());
  EXPECT_EQ(tensor.error(), Errc::allocation_failure);
  EXPECT_THAT(tensor.error().text(), HasSubstr("E6004"));
  EXPECT_THAT(tensor.error().text(), HasSubstr("i64[2147483648]: 17179869184 bytes"));
  EXPECT_THAT(tensor.error().text(), HasSubstr(std::to_string(before.arena_free_bytes) + " free"));
  EXPECT_THAT(tensor.error().text(),
              HasSubstr("largest block is " + std::to_string(before.arena_largest_free_bytes)));
  EXPECT_EQ(runtime.metrics().tensors, 0u);
}

TEST_P(Tensors, AreCountedAndLimited) {
  auto runtime = open();
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < tensors_max; ++i)
    tensors.push_back(runtime.allocate(four_floats).value());
  EXPECT_EQ(runtime.metrics().tensors, tensors_max);
  EXPECT_EQ(runtime.metrics().tensor_bytes, tensors_max * 16);
  EXPECT_EQ(runtime.allocate(four_floats).error(), Errc::limit_exceeded);
  tensors.pop_back();
  EXPECT_TRUE(runtime.allocate(four_floats));
}

TEST_P(Tensors, GoWithTheLastHandle) {
  auto runtime = open();
  const std::uint64_t free = runtime.metrics().arena_free_bytes;
  {
    Tensor tensor = runtime.allocate(four_floats).value();
    const Tensor copy = tensor;
    tensor = Tensor();
    EXPECT_EQ(runtime.metrics().tensors, 1u);
    EXPECT_THAT(contents(copy), Each(0.0f));
  }
  EXPECT_EQ(runtime.metrics().tensors, 0u);
  EXPECT_EQ(runtime.metrics().arena_free_bytes, free);
}

TEST_P(Tensors, StaleForeignAndEmptyHandlesAreErrorsThatNameThem) {
  auto runtime = open();
  auto other = open();
  Kernel kernel = active(runtime, "ops", {});
  Tensor tensor = runtime.allocate(four_floats).value();
  const Tensor copy = tensor;
  tensor.deallocate().value();
  const std::string name = "tensor " + std::to_string(copy.id());
  std::vector<float> elements(4);
  for (const Error& error : {tensor.deallocate().error(), tensor.write(elements).error(),
                             copy.read(elements).error(), kernel.call(ops::relu(copy)).error(),
                             kernel.call(ops::relu(elements).into(copy)).error()}) {
    EXPECT_EQ(error, Errc::tensor_not_found);
    EXPECT_THAT(error.text(), HasSubstr(name));
  }
  const Tensor foreign = other.allocate(four_floats).value();
  EXPECT_EQ(kernel.call(ops::relu(foreign)).error(), Errc::tensor_not_found);
  EXPECT_EQ(kernel.call(ops::relu(elements).into(foreign)).error(), Errc::tensor_not_found);
  Tensor none;
  EXPECT_EQ(none.write(elements).error(), Errc::tensor_not_found);
  EXPECT_EQ(none.deallocate().error(), Errc::tensor_not_found);
  EXPECT_TRUE(kernel.call(ops::relu(none)).has_error());
  EXPECT_EQ(kernel.call(ops::relu(elements).into(none)).error(), Errc::tensor_not_found);
}

TEST_P(Tensors, AnswerRuntimeClosedAfterShutdown) {
  auto runtime = open();
  Tensor tensor = runtime.allocate(four_floats).value();
  runtime.shutdown().value();
  std::vector<float> elements(4);
  EXPECT_EQ(tensor.read(elements).error(), Errc::runtime_closed);
  EXPECT_EQ(tensor.write(elements).error(), Errc::runtime_closed);
  EXPECT_EQ(tensor.deallocate().error(), Errc::runtime_closed);
  EXPECT_EQ(runtime.allocate(four_floats).error(), Errc::runtime_closed);
  EXPECT_EQ(runtime.defragment().error(), Errc::runtime_closed);
}

// --- ops --------------------------------------------------------------------------------------

TEST_P(Tensors, MixWithInlineOperandsInAnyPlace) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  const std::vector<float> inline_ones(4, 1);
  const Tensor resident = tensor_of(runtime, {1, 2, 3, 4});
  const Tensor result = runtime.allocate(four_floats).value();
  EXPECT_THAT(kernel.call(ops::add(resident, inline_ones)).value().floats(),
              ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(kernel.call(ops::add(inline_ones, resident)).value().floats(),
              ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(kernel.call(ops::add(resident, resident)).value().floats(), ElementsAre(2, 4, 6, 8));
  const Reply reply = kernel.call(ops::mul(resident, inline_ones).into(result)).value();
  EXPECT_EQ(reply.tensor().desc.dtype, DType::none);
  EXPECT_THAT(contents(result), ElementsAre(1, 2, 3, 4));
}

TEST_P(Tensors, AnElementwiseOpMayWriteOverItsOperand) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  const Tensor tensor = tensor_of(runtime, {-1, 2, -3, 4});
  ASSERT_TRUE(kernel.call(ops::add(tensor, tensor).into(tensor)));
  EXPECT_THAT(contents(tensor), ElementsAre(-2, 4, -6, 8));
  ASSERT_TRUE(kernel.call(ops::relu(tensor).into(tensor)));
  EXPECT_THAT(contents(tensor), ElementsAre(0, 4, 0, 8));
}

TEST_P(Tensors, OutputsThatDoNotFitAreRefusedAndKeepTheirContents) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  const Tensor tensor = tensor_of(runtime, {1, 2, 3, 4});
  const auto other_shape = kernel.call(ops::reshape(tensor, {2, 2}).into(tensor));
  EXPECT_EQ(other_shape.error(), Errc::dimension_mismatch);
  EXPECT_THAT(other_shape.error().text(), HasSubstr("E3003"));
  EXPECT_THAT(other_shape.error().text(), HasSubstr("f32[2, 2]"));
  EXPECT_THAT(other_shape.error().text(), HasSubstr("f32[4]"));
  const Tensor integers = runtime.allocate({DType::i32, {4}}).value();
  EXPECT_EQ(kernel.call(ops::relu(tensor).into(integers)).error(), Errc::dtype_mismatch);
  EXPECT_EQ(kernel.call(ops::reshape(tensor, {4}).into(tensor)).error(), Errc::invalid_argument);
  const Tensor square = runtime.allocate({DType::f32, {2, 2}}).value();
  EXPECT_EQ(kernel.call(ops::matmul(square, square).into(square)).error(), Errc::invalid_argument);
  Request nothing;
  EXPECT_EQ(kernel.call(nothing.into(tensor)).error(), Errc::dtype_mismatch);
  EXPECT_THAT(contents(tensor), ElementsAre(1, 2, 3, 4));
}

TEST_P(Tensors, AViewThatSaysOtherThanItsTensorIsRefused) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  const Tensor tensor = runtime.allocate(four_floats).value();
  TensorView larger = tensor;
  larger.desc.shape = {1024};
  larger.element_count = 1024;
  const auto reply = kernel.call(ops::relu(larger));
  EXPECT_EQ(reply.error(), Errc::invalid_argument);
  EXPECT_THAT(reply.error().text(), HasSubstr("is f32[4], operand 0 says f32[1024]"));
}

TEST_P(Tensors, AreLargerThanAnyMessage) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {.input_bytes = 4096, .output_bytes = 4096});
  std::vector<float> elements(100'000);
  std::iota(elements.begin(), elements.end(), 0.0f);
  const Tensor tensor = tensor_of(runtime, elements);
  ASSERT_TRUE(kernel.call(ops::add(tensor, tensor).into(tensor)));
  EXPECT_EQ(contents(tensor)[99'999], 2 * 99'999.0f);
}

TEST_P(Tensors, TravelWithEveryKindOfMessage) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  const std::vector<float> ones(4, 1);
  const Tensor sum = tensor_of(runtime, {0, 0, 0, 0});
  const Request step = ops::add(sum, ones).into(sum);
  ASSERT_TRUE(kernel.async_call(step, boost::asio::use_future).get().tensor().desc.dtype ==
              DType::none);
  ASSERT_TRUE(kernel.send(step));
  ASSERT_NE(kernel.async_send(step, boost::asio::use_future).get(), 0u);
  const std::vector<Request> steps(300, step);
  EXPECT_EQ(kernel.send_all(std::span<const Request>(steps)).value(), steps.size());
  // Nobody has received a reply: the read looks for them itself.
  EXPECT_THAT(contents(sum), Each(303.0f));
  for (std::size_t i = 0; i < 302; ++i) ASSERT_TRUE(kernel.receive(10s)) << i;
}

// --- in flight --------------------------------------------------------------------------------

TEST_P(Tensors, DeallocatedInFlightGoWithTheLastMessage) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  kernel.deactivate().value();
  Tensor tensor = tensor_of(runtime, {1, 2, 3, 4});
  const Tensor result = runtime.allocate(four_floats).value();
  ASSERT_TRUE(kernel.send(ops::add(tensor, tensor).into(result)));
  ASSERT_TRUE(kernel.send(ops::relu(tensor)));
  const std::uint64_t free = runtime.metrics().arena_free_bytes;
  tensor.deallocate().value();
  EXPECT_EQ(runtime.metrics().tensors, 2u);
  EXPECT_EQ(runtime.metrics().arena_free_bytes, free);
  EXPECT_EQ(kernel.call(ops::relu(tensor)).error(), Errc::tensor_not_found);
  kernel.activate().value();
  ASSERT_TRUE(kernel.receive(10s));
  EXPECT_THAT(kernel.receive(10s).value().floats(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(runtime.metrics().tensors, 1u);
  EXPECT_GT(runtime.metrics().arena_free_bytes, free);
  EXPECT_THAT(contents(result), ElementsAre(2, 4, 6, 8));
}

TEST_P(Tensors, CopiesWaitForMessagesInFlight) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  Tensor input = tensor_of(runtime, {1, 2, 3, 4});
  const Tensor output = runtime.allocate(four_floats).value();
  kernel.deactivate().value();
  ASSERT_TRUE(kernel.send(ops::relu(input).into(output)));
  std::vector<float> elements(4);
  const auto written = input.write(elements, 1ms);
  EXPECT_EQ(written.error(), Errc::deadline_exceeded);
  EXPECT_THAT(written.error().text(), HasSubstr("tensor " + std::to_string(input.id())));
  EXPECT_EQ(output.read(elements, 1ms).error(), Errc::deadline_exceeded);
  EXPECT_TRUE(input.read(elements)) << "nothing writes it";
  kernel.activate().value();
  EXPECT_THAT(contents(output), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(input.write(elements));
}

TEST_P(Tensors, OfACallThatTimedOutStayUntilTheDeviceHasAnswered) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  kernel.deactivate().value();
  Tensor tensor = tensor_of(runtime, {1, 2, 3, 4});
  EXPECT_EQ(kernel.call(ops::relu(tensor).into(tensor), 1ms).error(), Errc::deadline_exceeded);
  tensor.deallocate().value();
  EXPECT_EQ(runtime.metrics().tensors, 1u);
  kernel.activate().value();
  wait_for_tensors(runtime, 0);
  EXPECT_EQ(kernel.metrics().late, 1u);
}

TEST_P(Tensors, OfMessagesThatEndWithTheirKernelGoWhenTheDeviceObeys) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {.input_bytes = 4096, .in_flight_max = 64});
  kernel.deactivate().value();
  Tensor tensor = tensor_of(runtime, {1, 2, 3, 4});
  // Some lie in the ring, some in the queue on the host, one waits for room.
  std::size_t accepted = 0;
  for (; accepted < 20; ++accepted) ASSERT_TRUE(kernel.send(ops::relu(tensor)));
  EXPECT_GT(kernel.metrics().queued, 0u);
  auto later = kernel.async_call(ops::relu(tensor).into(tensor), boost::asio::use_future);
  tensor = Tensor();
  EXPECT_EQ(runtime.metrics().tensors, 1u);
  kernel.terminate().value();
  EXPECT_THROW((void)later.get(), boost::system::system_error);
  EXPECT_EQ(runtime.metrics().tensors, 0u);
}

// --- defragmentation --------------------------------------------------------------------------

TEST_P(Tensors, DefragmentationKeepsHandlesAndContents) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  std::vector<Tensor> tensors;
  for (std::uint32_t i = 0; i < 100; ++i)
    tensors.push_back(tensor_of(runtime, std::vector<float>(100 + 4 * i, static_cast<float>(i))));
  for (std::size_t i = 0; i < tensors.size(); i += 2) tensors[i] = Tensor();
  // All but what the holes have.
  const auto rest =
      runtime
          .allocate({DType::f32,
                     {static_cast<std::uint32_t>(runtime.metrics().arena_largest_free_bytes / 4)}})
          .value();
  EXPECT_GT(runtime.metrics().arena_fragmentation_score, 0.9);
  const Defragmentation done = runtime.defragment().value();
  EXPECT_GT(done.tensors_moved, 0u);
  EXPECT_EQ(done.tensors_in_use, 0u);
  EXPECT_EQ(done.fragmentation_score, 0);
  EXPECT_EQ(runtime.metrics().arena_fragmentation_score, 0);
  for (std::size_t i = 1; i < tensors.size(); i += 2) {
    EXPECT_THAT(contents(tensors[i]), Each(static_cast<float>(i)));
    EXPECT_THAT(kernel.call(ops::relu(tensors[i])).value().floats(), Each(static_cast<float>(i)));
  }
}

TEST_P(Tensors, DefragmentationLeavesWhatIsInFlight) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {});
  Tensor first = runtime.allocate(four_floats).value();
  const Tensor second = tensor_of(runtime, {1, 2, 3, 4});
  kernel.deactivate().value();
  ASSERT_TRUE(kernel.send(ops::relu(second)));
  first.deallocate().value();
  const Defragmentation held = runtime.defragment().value();
  EXPECT_EQ(held.tensors_moved, 0u);
  EXPECT_EQ(held.tensors_in_use, 1u);
  EXPECT_GT(held.fragmentation_score, 0);
  kernel.activate().value();
  EXPECT_THAT(kernel.receive(10s).value().floats(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(runtime.defragment().value().tensors_moved, 1u);
  EXPECT_EQ(runtime.metrics().arena_fragmentation_score, 0);
  EXPECT_THAT(contents(second), ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace ringkernel::test
