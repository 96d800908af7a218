// The device programs as OpenCL C 1.2: one slice at a time on a copy of an arena, whose every byte
// must then be what the native build of the same kernels leaves. RK_TEST_PLATFORM names the
// platform; on Oclgrind each report that it prints (OCLGRIND_LOG) is a failure too. RK_TEST_OPTIONS
// are built with besides: those for a GPU, whose bodies must leave the same bytes.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "backend/native/programs.hpp"
#include "backend/opencl/program.hpp"
#include "backend/opencl/self_test/layout.hpp"
#include "conformance/cases.hpp"
#include "kernels/rk_workspace.h"
#include "message/codec.hpp"
#include "support/skip.hpp"
#include "support/temp_folder.hpp"
#include "unit/kernels/arena_image.hpp"
#include "unit/kernels/old_device.hpp"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What Oclgrind has written into its log since the last question; empty on other platforms. It
/// begins the log anew with each context.
std::string new_reports() {
  static std::string* const known = new std::string();
  std::ostringstream text;
  text << std::ifstream(environment("OCLGRIND_LOG")).rdbuf();
  const std::string before = std::exchange(*known, text.str());
  return known->starts_with(before) ? known->substr(before.size()) : *known;
}

class OpenCl12 : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string platform = environment("RK_TEST_PLATFORM");
    found_ = OldDevice::find(platform);
    if (found_ == nullptr)
      RK_SKIP_WITHOUT((std::string_view(platform) == "Oclgrind" ? "oclgrind" : "pocl"),
                      "no OpenCL platform '" << platform << "' is installed");
    // One for all tests: programs are built once. It outlives the tests, as drivers do.
    static const auto& device =
        *new auto(OldDevice::open(*found_, environment("RK_TEST_OPTIONS")).value());
    device_ = device.get();
  }

  void TearDown() override { EXPECT_EQ(new_reports(), ""); }

  /// Runs the arena's next slice here and natively; it must end as `end` says (RK_SLICE_*).
  void run_slice(const std::string& program, ArenaImage& image, rk_u32 end = RK_SLICE_IDLE) {
    ArenaImage expected = image;
    const rk_u32 slice = image.device().running_slice + 1;
    memory_->local.fill(0);  // as the device's, which remembers no slice
    native::find_program(program == "core" ? RK_PROGRAM_CORE : RK_PROGRAM_ECHO)(
        reinterpret_cast<rk_u8*>(expected.bytes().data()), expected.bytes().size(),
        ArenaImage::executor_offset, slice, 0, memory_->workspace.data(), memory_->local.data(),
        nullptr);
    const auto ran = device_->run_slice(program, image.bytes(), ArenaImage::executor_offset, slice);
    ASSERT_TRUE(ran.has_value()) << ran.error().text();
    EXPECT_EQ(image.device().parked_slice, slice);
    EXPECT_EQ(image.device().end_reason, end);
    EXPECT_EQ(image.device().core, 0u);  // OpenCL C does not know where it runs
    expected.forget_core();
    expect_same_bytes(image, expected);
  }

  static void expect_same_bytes(ArenaImage& image, ArenaImage& expected) {
    const auto difference = std::ranges::mismatch(image.bytes(), expected.bytes());
    EXPECT_TRUE(difference.in1 == image.bytes().end())
        << "the arenas differ from byte " << difference.in1 - image.bytes().begin()
        << " on, which is in the output ring's data from byte "
        << &*difference.in1 - image.output().data;
  }

  const opencl::FoundDevice* found_ = nullptr;
  /// Of the native build's work-group. Its code takes whole vectors at once, up to 64 bytes wide.
  struct alignas(64) Memory {
    std::array<rk_u8, RK_WORKSPACE_BYTES> workspace;
    std::array<rk_u8, RK_SLICE_BYTES> local;
  };
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  OldDevice* device_ = nullptr;
};

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    payload[i] = static_cast<std::byte>(seed * 31 + i * 7 + 1);
  return payload;
}

/// Puts a request for `core` into the ring as the message layer writes it; `spoil` gets its
/// command. False if there is no space at the moment.
bool send(
    ArenaImage& image, const Request& request, rk_u64 correlation_id,
    const std::function<void(std::byte*)>& spoil = [](std::byte*) {}) {
  const auto plan = codec::plan(request);
  rk_record_header header{};
  header.correlation_id = correlation_id;
  header.payload_bytes = plan->payload_bytes;
  header.selector = plan->command_offset;
  header.prefix_offset = plan->prefix_offset;
  header.prefix_bytes = plan->prefix_bytes;
  header.reply_bytes = plan->reply_bytes;
  return image.send(header, [&](std::byte* payload) {
    codec::encode(*plan, request, payload);
    spoil(payload + plan->command_offset);
  });
}

bool fits(ArenaImage& image, const Request& request) {
  const auto plan = codec::plan(request);
  return image.input().fits(plan->payload_bytes) && image.output().fits(plan->reply_bytes);
}

/// About how many steps an interpreter takes for it.
std::size_t work_of(const Case& example) {
  std::size_t work = 0;
  for (const Tensor& input : example.inputs) work += input.elements.size();
  return work;
}

/// Oclgrind is some thousand times slower than a processor.
std::size_t work_max() {
  return environment("RK_TEST_PLATFORM") == "Oclgrind" ? 600 : ~std::size_t{0};
}

/// The smallest of the op's cases that has something to spoil.
Case small_case(Op op) {
  std::vector<Case> cases = cases_of(op);
  std::erase_if(cases, [](const Case& example) { return work_of(example) < 20; });
  return *std::ranges::min_element(cases, {}, work_of);
}

void put(std::byte* floats, rk_u32 i, float value) {
  std::memcpy(floats + i * sizeof value, &value, sizeof value);
}

void expect_success(const std::vector<RingReply>& replies) {
  for (const RingReply& reply : replies) {
    EXPECT_EQ(reply.header.fault, rk_u32{0}) << reply.header.correlation_id;
    EXPECT_TRUE(codec::read_reply(reply.payload).has_value()) << reply.header.correlation_id;
  }
}

TEST_F(OpenCl12, IsWhatTheKernelsAreBuiltAs) {
  EXPECT_THAT(device_->options(), HasSubstr("-cl-std=CL1.2"));
  if (environment("RK_TEST_PLATFORM") != "Oclgrind") return;
  EXPECT_EQ(opencl::build_options(found_->id).value(), device_->options());
}

TEST_F(OpenCl12, LaysTheProtocolOutAsTheHostDoes) {
  constexpr std::size_t count = 0
#define RK_LAYOUT_TYPE(type, bytes) +1
#define RK_LAYOUT_FIELD(type, field, offset) +1
#include "ringkernel/protocol/layout.def"
      ;
  std::vector<std::uint32_t> figures(count);
  const auto ran = device_->run("kernels/layout_probe.cl", "rk_layout_probe",
                                std::as_writable_bytes(std::span(figures)),
                                [](cl_kernel) { return Result<void>(); });
  ASSERT_TRUE(ran.has_value()) << ran.error().text();
  const auto same = opencl::compare_layout(figures);
  EXPECT_TRUE(same.has_value()) << same.error().text();
}

TEST_F(OpenCl12, EchoesThroughRingsThatWrap) {
  ArenaImage image({.input_bytes = 4096, .output_bytes = 8192, .position = 4096 - 192});
  unsigned sent = 0;
  for (int lap = 0; lap < 6; ++lap) {
    const unsigned first = sent;
    while (image.send(pattern((sent * 211 + 3) % 1900, sent), sent)) ++sent;
    run_slice("echo", image);
    const std::vector<RingReply> replies = image.take_replies();
    ASSERT_EQ(replies.size(), sent - first);
    for (const RingReply& reply : replies) {
      const auto number = static_cast<unsigned>(reply.header.correlation_id);
      EXPECT_EQ(reply.payload, pattern((number * 211 + 3) % 1900, number));
    }
  }
  EXPECT_EQ(image.telemetry().messages_out, sent);
}

/// The device takes no request that it cannot answer, and notes that it waits.
TEST_F(OpenCl12, LeavesRequestsWhoseRepliesHaveNoSpace) {
  ArenaImage image({.output_bytes = 4096});
  constexpr unsigned count = 10;
  for (unsigned i = 0; i < count; ++i) ASSERT_TRUE(image.send(pattern(900, i), i));
  unsigned taken = 0;
  for (int slice = 0; taken < count; ++slice) {
    ASSERT_LT(slice, 10);
    run_slice("echo", image);
    EXPECT_EQ(image.kernel_device().backpressured, taken + 4 < count ? 1u : 0u);
    for (const RingReply& reply : image.take_replies())
      EXPECT_EQ(reply.payload, pattern(900, taken++));
    image.ring();
  }
  EXPECT_GE(image.telemetry().backpressure_count, 2u);
}

TEST_F(OpenCl12, LeavesTheRestToTheNextSliceWhenItsBudgetIsUsedUp) {
  ArenaImage image;
  image.host().drain_records_max = 2;
  image.host().slice_records_max = 3;
  for (unsigned i = 0; i < 6; ++i) ASSERT_TRUE(image.send(pattern(64, i), i));
  run_slice("echo", image, RK_SLICE_BUDGET);
  EXPECT_EQ(image.take_replies().size(), 4u);
  run_slice("echo", image);
  EXPECT_EQ(image.take_replies().size(), 2u);
}

TEST_F(OpenCl12, ObeysTheStateOfTheKernel) {
  ArenaImage image;
  ASSERT_TRUE(image.send(pattern(100, 1), 1));
  image.kernel().state = RK_KERNEL_PAUSED;
  image.kernel().state_epoch = 2;
  run_slice("echo", image);
  EXPECT_EQ(image.kernel_device().state_epoch, 2u);
  EXPECT_TRUE(image.take_replies().empty());
  image.kernel().state = RK_KERNEL_RUNNING;
  image.kernel().state_epoch = 3;
  run_slice("echo", image);
  EXPECT_EQ(image.take_replies().size(), 1u);
  image.host().stop = 1;
  run_slice("echo", image, RK_SLICE_STOP);
}

TEST_F(OpenCl12, GivesUpARingThatMakesNoSense) {
  for (const rk_u32 length : {0u, 63u, 65u, 128u, 1u << 20, ~0u - 63}) {
    ArenaImage image;
    ASSERT_TRUE(image.send(pattern(0, 1), 1));
    image.input().record(0)->length = length;
    run_slice("echo", image);
    EXPECT_EQ(image.kernel_device().fault, static_cast<rk_u32>(Errc::bad_record)) << length;
  }
  for (const rk_u64 offset : {rk_u64{64}, rk_u64{1} << 40, ~rk_u64{0} - 127}) {
    ArenaImage image;
    ASSERT_TRUE(image.send(pattern(0, 1), 1));
    ArenaImage broken = image;
    broken.kernel().output_ring = offset;
    run_slice("echo", broken);
    EXPECT_EQ(broken.kernel_device().fault, static_cast<rk_u32>(Errc::bad_ring)) << offset;
  }
}

TEST_F(OpenCl12, TouchesNothingWhereNoExecutorIs) {
  ArenaImage image;
  ArenaImage before = image;
  const std::uint64_t end = image.bytes().size();
  for (const std::uint64_t offset :
       {std::uint64_t{0}, std::uint64_t{32}, end - 64, end, ~std::uint64_t{0} - 63}) {
    const auto ran = device_->run_slice("echo", image.bytes(), offset, 1);
    ASSERT_TRUE(ran.has_value()) << ran.error().text();
    expect_same_bytes(image, before);
  }
}

/// Each word of a command in turn becomes a number that leads a careless kernel out of the message.
TEST_F(OpenCl12, AnswersHostileCommandsAsTheNativeBuildDoes) {
  constexpr rk_u32 lies[] = {1, 0x7fffffff, ~0u};
  rk_u64 faults = 0;
  for (const Op op : {Op::add, Op::matmul, Op::conv2d, Op::max_pool, Op::sum, Op::transpose,
                      Op::index, Op::slice, Op::gather, Op::pad}) {
    SCOPED_TRACE(name_of(op));
    const Case example = small_case(op);
    ArenaImage image({.input_bytes = 1 << 20, .output_bytes = 1 << 20});
    rk_u64 sent = 0;
    for (std::size_t word = 0; word < sizeof(rk_command) / sizeof(rk_u32); ++word)
      for (const rk_u32 lie : lies)
        ASSERT_TRUE(send(image, example.request(), sent++, [&](std::byte* command) {
          std::memcpy(command + word * sizeof lie, &lie, sizeof lie);
        }));
    run_slice("core", image);
    EXPECT_EQ(image.take_replies().size(), sent);
    faults += image.telemetry().faults;
  }
  EXPECT_GT(faults, 10 * sizeof(rk_command) / sizeof(rk_u32));  // one for each word
}

TEST_F(OpenCl12, GathersNothingFromOutside) {
  Dice dice(cases_seed, 0);
  const Tensor rows = random_tensor({3, 20}, dice);
  for (const float bad : {3.0f, -1.0f, 1073741824.0f, -2147483648.0f})
    for (const DType dtype : {DType::i32, DType::i64}) {
      Tensor indices = random_tensor({2}, dice);
      indices.elements = {2.0f, bad};
      ArenaImage image;
      const Case example{Op::gather, {rows, indices.as(dtype)}, {}};
      ASSERT_TRUE(send(image, example.request(), 1));
      run_slice("core", image);
      const std::vector<RingReply> replies = image.take_replies();
      ASSERT_EQ(replies.size(), 1u);
      EXPECT_EQ(replies[0].header.fault, static_cast<rk_u32>(Errc::index_out_of_bounds)) << bad;
    }
}

/// (input + row), relu, input - that: a chain, whose result goes on to a sum in the arena.
TEST_F(OpenCl12, RunsGraphsAndChains) {
  constexpr rk_u32 rows = 3, columns = 40, count = rows * columns;
  ArenaImage image;
  const rk_u64 row_at = image.room_offset() + 4096, value_at = row_at + 256,
               sum_at = value_at + 512;
  const auto operand = [](rk_u8 place, rk_u64 offset, rk_u32 high, rk_u32 wide) -> rk_operand {
    return {offset, place, RK_DTYPE_F32, 2, 0, high * wide, {high, wide, 1, 1, 1, 1, 1, 1}};
  };
  const rk_operand input = operand(RK_PLACE_MESSAGE, 0, rows, columns);
  const rk_operand link = operand(RK_PLACE_CHAIN, 0, rows, columns);
  const rk_operand value = operand(RK_PLACE_ARENA, value_at, rows, columns);
  const rk_operand sum{sum_at, RK_PLACE_ARENA, RK_DTYPE_F32, 0, 0, 1, {1, 1, 1, 1, 1, 1, 1, 1}};
  const auto command = [](Op op, const rk_operand& out, const rk_operand& a, const rk_operand& b) {
    rk_command made{};
    made.op = static_cast<rk_u16>(op);
    made.input_count = b.dtype == RK_DTYPE_NONE ? 1 : 2;
    made.output_count = 1;
    made.output = out;
    made.inputs[0] = a;
    made.inputs[1] = b;
    return made;
  };
  rk_command steps[] = {command(Op::add, link, input, operand(RK_PLACE_ARENA, row_at, 1, columns)),
                        command(Op::relu, link, link, {}), command(Op::sub, value, input, link),
                        command(Op::sum_all, sum, value, {}),
                        command(Op::mul, operand(RK_PLACE_MESSAGE, 0, rows, columns), value, sum)};
  steps[3].attrs.reduce.axis_mask = 3;
  std::memcpy(image.room(), steps, sizeof steps);
  for (rk_u32 i = 0; i < columns; ++i) put(image.room() + 4096, i, static_cast<float>(i % 5) - 1);

  rk_command graph = command(static_cast<Op>(RK_OP_GRAPH), operand(RK_PLACE_MESSAGE, 0, 1, count),
                             operand(RK_PLACE_MESSAGE, 384, 1, count), {});
  graph.attrs.graph.commands = image.room_offset();
  graph.attrs.graph.count = std::size(steps);
  rk_record_header header{};
  header.payload_bytes = 384 + count * sizeof(float);
  header.selector = 64;
  header.reply_bytes = count * sizeof(float);
  ASSERT_TRUE(image.send(header, [&](std::byte* payload) {
    std::memcpy(payload + 64, &graph, sizeof graph);
    for (rk_u32 i = 0; i < count; ++i) put(payload + 384, i, static_cast<float>(i % 7) - 3);
  }));
  run_slice("core", image);
  const std::vector<RingReply> replies = image.take_replies();
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].header.fault, 0u);
  EXPECT_EQ(replies[0].header.payload_bytes, count * sizeof(float));
}

/// What a driver gives as binary of a program is its own affair, and so is whether it takes it
/// back.
TEST_F(OpenCl12, RunsProgramsThatWereKeptOnDisk) {
  const ringkernel::testing::TempFolder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  setenv("RINGKERNEL_CACHE", "1", 1);
  for (const rk_u64 kept : {0u, 1u}) {
    const auto device = OldDevice::open(*found_, environment("RK_TEST_OPTIONS"));
    ArenaImage image;
    ASSERT_TRUE(image.send(pattern(100, 1), 1));
    const auto ran = (*device)->run_slice("echo", image.bytes(), ArenaImage::executor_offset, 1);
    ASSERT_TRUE(ran.has_value()) << ran.error().text();
    EXPECT_EQ(image.take_replies().size(), 1u);
    const opencl::BinaryCache& cache = (*device)->cache();
    EXPECT_EQ(cache.hits() + cache.rejected(), kept);
    EXPECT_EQ(cache.misses(), 1 - kept);
  }
  setenv("RINGKERNEL_CACHE", "0", 1);
}

constexpr Op all_ops[] = {
#define RK_OP(id, name, inputs, types, attrs, rule, rereads) Op::name,
#include "ringkernel/protocol/ops.def"
#undef RK_OP
};

class OpenCl12Op : public OpenCl12, public ::testing::WithParamInterface<Op> {};

/// Messages as users send them, several slices long; the rings wrap.
TEST_P(OpenCl12Op, GivesTheBitsOfTheNativeBuild) {
  ArenaImage image({.input_bytes = 1 << 18, .output_bytes = 1 << 18, .position = (1 << 18) - 640});
  std::vector<Case> cases = cases_of(GetParam());
  if (GetParam() == Op::noop) cases.push_back({Op::noop, {}, {}});
  rk_u64 sent = 0, answered = 0;
  const auto answer = [&] {  // in several slices, where replies need more room than their requests
    for (bool is_answering = true; is_answering && answered != sent; image.ring()) {
      run_slice("core", image);
      const std::vector<RingReply> replies = image.take_replies();
      expect_success(replies);
      answered += replies.size();
      is_answering = !replies.empty();
    }
  };
  for (const Case& example : cases) {
    if (!fits(image, example.request()) || work_of(example) > work_max()) continue;
    if (!send(image, example.request(), sent)) {
      answer();
      ASSERT_TRUE(send(image, example.request(), sent));
    }
    ++sent;
  }
  answer();
  EXPECT_EQ(answered, sent);
  EXPECT_GE(sent, GetParam() == Op::noop ? 1u : 9u);
}

INSTANTIATE_TEST_SUITE_P(, OpenCl12Op, ::testing::ValuesIn(all_ops),
                         [](const auto& op) { return std::string(name_of(op.param)); });

}  // namespace
}  // namespace ringkernel::test
