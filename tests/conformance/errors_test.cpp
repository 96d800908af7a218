// What an op refuses, it refuses on every backend with the same E-code, before anything reaches a
// ring.
#include <gmock/gmock.h>

#include <array>
#include <chrono>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::array<float, 6> six{1, 2, 3, 4, 5, 6};
const std::array<std::int32_t, 6> integers{1, 2, 3, 4, 5, 6};

TensorView tensor(Shape shape) { return {shape, std::span(six).first(shape.element_count())}; }
TensorView integer_tensor(Shape shape) { return {{DType::i32, shape}, integers.data()}; }

Request with_op(Request request, std::uint16_t op) {
  request.op = static_cast<Op>(op);
  return request;
}
Request with_inputs(Request request, std::uint32_t count) {
  request.input_count = count;
  return request;
}

struct Refusal {
  Request request;
  Errc code;
  const char* text;    ///< how the error's text starts
  const char* detail;  ///< what it says about this request
};

std::vector<Refusal> refusals() {
  return {
      {with_op(ops::relu(six), 9999), Errc::unsupported_operation, "E6003", "9999"},
      {with_inputs(ops::add(six, six), 1), Errc::arity_mismatch, "E2007", "add"},
      {ops::mul(tensor({6}), integer_tensor({6})), Errc::dtype_mismatch, "E2004", "i32"},
      {ops::relu(integer_tensor({2, 3})), Errc::invalid_dtype, "E2005", "i32[2, 3]"},
      {ops::add(tensor({2, 3}), tensor({2})), Errc::broadcast_failure, "E3001", "3 and 2"},
      {ops::matmul(tensor({6}), tensor({6, 1})), Errc::rank_mismatch, "E3002", "matmul"},
      {ops::matmul(tensor({2, 3}), tensor({2, 3})), Errc::dimension_mismatch, "E3003", "K"},
      {ops::sum(tensor({2, 3}), {2}), Errc::invalid_axis, "E3004", "2"},
      {ops::mean(tensor({2, 3}), {-1, 1}), Errc::duplicate_axis, "E3005", "mean"},
      {ops::reshape(tensor({2, 3}), {0, 6}), Errc::invalid_dimension, "E3006", "reshape"},
      {ops::reshape(tensor({2, 3}), {4, -1}), Errc::element_count_mismatch, "E3007", "reshape"},
      {ops::dot(tensor({6}), integer_tensor({6})), Errc::dtype_mismatch, "E2004", "i32"},
      {ops::mean_all(integer_tensor({6})), Errc::invalid_dtype, "E2005", "i32[6]"},
      {ops::dot(tensor({1, 2, 3}), tensor({3})), Errc::rank_mismatch, "E3002", "dot"},
      {ops::dot(tensor({2, 3}), tensor({2})), Errc::dimension_mismatch, "E3003", "dot"},
      {ops::expand_dims(tensor({6}), {2}), Errc::invalid_axis, "E3004", "expand_dims"},
      {ops::expand_dims(tensor({6}), {0, 0}), Errc::duplicate_axis, "E3005", "expand_dims"},
      {ops::squeeze(tensor({1, 6}), {2}), Errc::invalid_axis, "E3004", "squeeze"},
      {ops::squeeze(tensor({1, 6}), {0, 0}), Errc::duplicate_axis, "E3005", "squeeze"},
      {ops::squeeze(tensor({1, 6}), {1}), Errc::not_squeezable, "E3009", "extent 6"},
      {ops::transpose(tensor({2, 3}), {0, 0}), Errc::invalid_permutation, "E3008", "transpose"},
      {ops::index(tensor({2, 3}), {1}), Errc::index_count_mismatch, "E4006", "rank 2"},
      {ops::index(tensor({2, 3}), {2, 0}), Errc::out_of_bounds, "E6001", "index 2 in dim 0"},
      {ops::slice(tensor({6}), {}), Errc::slice_count_mismatch, "E4007", "rank 1"},
      {ops::slice(tensor({6}), {{0}, {6}, {0}}), Errc::invalid_slice_step, "E4008", "step 0"},
      {ops::slice(tensor({6}), {{0}, {7}, {1}}), Errc::out_of_bounds, "E6001", "end 7"},
      {ops::slice(tensor({6}), {{3}, {3}, {1}}), Errc::invalid_dimension, "E3006", "slice"},
      {ops::pad(tensor({2, 3}), tensor({}), {1}, {0, 0}), Errc::invalid_argument,
       "invalid_argument", "low [1]"},
      {ops::gather(tensor({}), integer_tensor({6})), Errc::rank_mismatch, "E3002", "gather"},
      {ops::gather(tensor({6}), tensor({6})), Errc::invalid_index_dtype, "E4011", "f32"},
      {ops::conv2d(tensor({1, 1, 2, 3}), tensor({1, 1, 2, 1})), Errc::channel_mismatch, "E4009",
       "3 channels"},
      {ops::conv2d(tensor({1, 1, 2, 3}), tensor({1, 1, 3, 1}), {.strides = {1, 0}}),
       Errc::invalid_stride, "E4010", "[1, 0]"},
      {ops::fill(tensor({}), {1 << 16, 1 << 16}), Errc::allocation_failure, "E6004", "fill"},
  };
}

RK_ON_EACH_BACKEND(Refusals);

TEST_P(Refusals, NameTheirCodeAndWhatWasWrongBeforeTheRing) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {.program = "core"});
  for (const Refusal& refusal : refusals()) {
    SCOPED_TRACE(refusal.text);
    for (const Error& error :
         {kernel.call(refusal.request).error(), kernel.send(refusal.request).error()}) {
      EXPECT_EQ(error, refusal.code) << error.text();
      EXPECT_THAT(error.text(), StartsWith(refusal.text));
      EXPECT_THAT(error.detail, HasSubstr(refusal.detail));
    }
  }
  EXPECT_EQ(kernel.metrics().accepted, 0u);
  EXPECT_EQ(kernel.metrics().messages_in, 0u);
}

TEST_P(Refusals, LeaveTheKernelReadyForTheNextRequest) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {.program = "core"});
  for (const Refusal& refusal : refusals()) {
    EXPECT_TRUE(kernel.call(refusal.request).has_error());
    const auto reply = kernel.call(ops::sum_all(six));
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->floats()[0], 21.0f);
  }
  EXPECT_EQ(kernel.metrics().replied, refusals().size());
}

// The indices of gather are data: the device looks at them.
TEST_P(Refusals, OfAnIndexComeFromTheDeviceAndLeaveTheKernelReady) {
  auto runtime = open();
  Kernel kernel = active(runtime, "ops", {.program = "core"});
  const std::int32_t narrow[] = {2, 0, 3};
  const std::int64_t wide[] = {0, -(std::int64_t{1} << 40)};
  const Error error = kernel.call(ops::gather(tensor({3, 2}), narrow)).error();
  EXPECT_EQ(error, Errc::out_of_bounds) << error.text();
  EXPECT_THAT(error.text(), StartsWith("E6001"));
  EXPECT_EQ(error.detail, "gather(f32[3, 2], i32[3]): index 3 at position 2");
  EXPECT_EQ(kernel.call(ops::gather(tensor({3, 2}), wide)).error().detail,
            "gather(f32[3, 2], i64[2]): index -2147483648 or beyond at position 1");
  ASSERT_TRUE(kernel.send(ops::gather(tensor({3, 2}), narrow)));
  const Error received = kernel.receive(std::chrono::seconds(10)).error();
  EXPECT_EQ(received, Errc::out_of_bounds);
  EXPECT_EQ(received.detail, "index 3 at position 2");
  const auto reply = kernel.call(ops::gather(tensor({3, 2}), std::span(narrow).first(2)));
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_THAT(reply->floats(), ::testing::ElementsAre(5, 6, 1, 2));
}

TEST_P(Refusals, DoNotTouchNoopWhichAnswersWithoutATensor) {
  auto runtime = open();
  const auto reply = active(runtime, "ops", {.program = "core"}).call(Request{});
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->tensor().desc.dtype, DType::none);
}

}  // namespace
}  // namespace ringkernel::test
