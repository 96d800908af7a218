// The bytes of messages, pinned. A difference here is a difference for every client in another
// language, and a change of the schema's file identifier or of RK_PROTOCOL_VERSION.
//
// RINGKERNEL_WRITE_GOLDEN=1 in the environment writes the files anew instead of comparing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "message/codec.hpp"
#include "ringkernel/ops.hpp"
#include "support/skip.hpp"

namespace ringkernel::test {
namespace {

std::filesystem::path golden_path(const std::string& name) {
  return std::filesystem::path(RINGKERNEL_GOLDEN_DIR) / name;
}

std::vector<char> read_golden(const std::string& name) {
  std::ifstream file(golden_path(name), std::ios::binary);
  EXPECT_TRUE(file) << golden_path(name);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_golden(const std::string& name, std::span<const std::byte> bytes) {
  const auto* chars = reinterpret_cast<const char*>(bytes.data());
  if (std::getenv("RINGKERNEL_WRITE_GOLDEN") != nullptr) {
    std::ofstream(golden_path(name), std::ios::binary)
        .write(chars, static_cast<std::streamsize>(bytes.size()));
    RK_SKIP_UNSUPPORTED("nothing is compared with what was written now: " << name);
  }
  const std::vector<char> golden = read_golden(name);
  ASSERT_EQ(bytes.size(), golden.size()) << name;
  for (std::size_t i = 0; i < golden.size(); ++i)
    ASSERT_EQ(chars[i], golden[i]) << name << " differs at byte " << i;
}

void expect_golden_request(const std::string& name, const Request& request) {
  const codec::Plan plan = codec::plan(request).value();
  MessageBuffer message(plan.payload_bytes);
  codec::encode(plan, request, message.data());
  expect_golden(name, message.span());
}

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

TEST(MessageGolden, AddOfSixteenFloats) {
  const std::vector<float> a = ramp(16), b(16, 0.5f);
  expect_golden_request("add16.request.bin", ops::add(a, b));
}

TEST(MessageGolden, Matmul) {
  const std::vector<float> a = ramp(6), b = ramp(12);
  expect_golden_request("matmul.request.bin", ops::matmul({{2, 3}, a}, {{3, 4}, b}));
}

TEST(MessageGolden, SumOverAnAxisThatStays) {
  const std::vector<float> a = ramp(24);
  expect_golden_request("sum.request.bin", ops::sum({{2, 3, 4}, a}, {-2}, true));
}

TEST(MessageGolden, Fill) {
  const std::vector<float> value{2.5f};
  expect_golden_request("fill.request.bin", ops::fill(value, {3, 5}));
}

TEST(MessageGolden, ReplyOfAddOfSixteenFloats) {
  const std::vector<float> a = ramp(16);
  const Request request = ops::add(a, a);
  const codec::Plan plan = codec::plan(request).value();
  MessageBuffer message(plan.payload_bytes);
  codec::encode(plan, request, message.data());
  MessageBuffer reply(plan.reply_bytes);
  std::memcpy(reply.data(), message.data() + plan.prefix_offset, plan.prefix_bytes);
  std::memcpy(reply.data() + plan.prefix_bytes, a.data(), plan.reply_bytes - plan.prefix_bytes);
  expect_golden("add16.reply.bin", reply.span());
}

// Made once by the Python client of docs/MESSAGES.md; has to be understood for ever.
TEST(MessageGolden, RequestOfAPythonClientIsUnderstood) {
  const std::vector<char> bytes = read_golden("python_client.request.bin");
  const Request request = Request::from_bytes(std::as_bytes(std::span(bytes))).value();
  EXPECT_EQ(request.op, Op::add);
  EXPECT_EQ(request.inputs[0].desc, (TensorDesc{DType::f32, {2, 3}}));
  EXPECT_EQ(request.inputs[0].floats()[5], 5.0f);
  EXPECT_EQ(request.inputs[1].floats()[2], 30.0f);
  EXPECT_TRUE(codec::plan(request).has_value());
}

}  // namespace
}  // namespace ringkernel::test
