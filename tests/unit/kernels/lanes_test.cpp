// Every op of the table with 1, 3, 8 and 64 lanes: the bytes are those of one lane, whichever lane
// comes first, at each instruction-set level. The lanes run one after the other, so races between
// them are not seen here. Graphs and chains of ops have one lane (graph_command_test.cpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "conformance/cases.hpp"
#include "message/codec.hpp"
#include "unit/kernels/programs.hpp"

namespace ringkernel::test {
namespace {

constexpr std::size_t line = 64;  // as in a ring
constexpr std::byte untouched{0xa5};

/// Bytes aligned as in a ring, allocated to the byte, for AddressSanitizer.
class Bytes {
 public:
  explicit Bytes(std::size_t size) : size_(size) {
    data_.reset(static_cast<std::byte*>(::operator new (size, std::align_val_t{line})));
    clear();
  }
  void clear() { std::fill_n(data_.get(), size_, untouched); }
  [[nodiscard]] std::span<std::byte> all() const { return {data_.get(), size_}; }
  [[nodiscard]] rk_u8* device() const { return reinterpret_cast<rk_u8*>(data_.get()); }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete (bytes, std::align_val_t{line}); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_;
};

enum class Order { first_to_last, last_to_first };

/// A request as it lies in a ring, and the room for its reply.
class Laid {
 public:
  explicit Laid(const Request& request)
      : plan_(codec::plan(request).value()),
        payload_(plan_.payload_bytes),
        reply_(plan_.reply_bytes) {
    codec::encode(plan_, request, payload_.all().data());
  }

  /// The reply's bytes; what no lane has written is `untouched`.
  [[nodiscard]] std::span<const std::byte> run(const Programs& programs, rk_u32 lanes,
                                               Order order) {
    reply_.clear();
    const MessageMemory memory{.payload = payload_.device(),
                               .payload_bytes = plan_.payload_bytes,
                               .command_offset = plan_.command_offset,
                               .reply = reply_.device(),
                               .reply_bytes = plan_.reply_bytes,
                               .arena = nullptr,
                               .arena_bytes = 0};
    for (rk_u32 i = 0; i < lanes; ++i) {
      const rk_u32 lane = order == Order::first_to_last ? i : lanes - 1 - i;
      const Outcome outcome = programs.core(memory, lane, lanes);
      EXPECT_EQ(outcome.fault, rk_u32{0}) << "lane " << lane << " detail " << outcome.detail;
    }
    return reply_.all();
  }

 private:
  codec::Plan plan_;
  Bytes payload_;
  Bytes reply_;
};

class Lanes : public ::testing::TestWithParam<Op> {};

TEST_P(Lanes, GiveTheBytesOfOne) {
  const std::vector<Case> cases = cases_of(GetParam());
  ASSERT_FALSE(cases.empty());
  std::vector<Laid> messages;
  for (const Case& example : cases) messages.emplace_back(example.request());
  const auto all_programs = available_programs();
  std::vector<std::vector<std::byte>> expected;
  for (Laid& message : messages) {
    const auto reply = message.run(all_programs.front(), 1, Order::first_to_last);
    expected.emplace_back(reply.begin(), reply.end());
  }
  for (const Programs& programs : all_programs)
    for (const rk_u32 lanes : {1u, 3u, 8u, 64u})
      for (std::size_t i = 0; i < messages.size(); ++i) {
        const Order order = i % 2 == 0 ? Order::first_to_last : Order::last_to_first;
        EXPECT_TRUE(std::ranges::equal(messages[i].run(programs, lanes, order), expected[i]))
            << cases[i].text() << ' ' << programs.level << " lanes " << lanes;
      }
}

/// noop has neither operands nor a result.
std::vector<Op> ops_with_results() {
  std::vector<Op> ops;
  for (const OpInfo& info : op_table())
    if (info.op != Op::noop) ops.push_back(info.op);
  return ops;
}

INSTANTIATE_TEST_SUITE_P(, Lanes, ::testing::ValuesIn(ops_with_results()),
                         [](const auto& op) { return std::string(name_of(op.param)); });

}  // namespace
}  // namespace ringkernel::test
